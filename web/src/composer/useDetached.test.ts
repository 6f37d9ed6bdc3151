// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Doc } from "../api/types";
import { request } from "../api/http";
import { toast } from "../ui/toast";
import { useDetached } from "./useDetached";

vi.mock("../api/http", async (original) => ({ ...(await original<object>()), request: vi.fn(async () => new Response()) }));
vi.mock("../ui/toast", () => ({ toast: Object.assign(vi.fn(() => () => {}), { error: vi.fn() }) }));

const doc = (id: string, more: Partial<Doc> = {}): Doc => ({ id, title: id, status: "ready", source_type: "upload", format: "md", bytes: 1, chunks: 1, public: false, conversation_id: "chat", ...more });
const { conversation_id: _, ...inLibrary } = doc("kept");
const onBack = vi.fn();
let message: ReturnType<typeof useDetached>;
let root: Root;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.clearAllMocks();
  root = createRoot(document.createElement("div"));
});
afterEach(() => vi.unstubAllGlobals());

const write = (attached: Doc[], ...mentioned: string[]) => act(async () => root.render(createElement(() => ((message = useDetached(attached, new Set(mentioned), onBack)), null))));
const deleted = () => vi.mocked(request).mock.calls.map(([path, init]) => `${init?.method} ${path}`);

it("a file whose mention is deleted leaves the chat before the message is sent", async () => {
  const Message = ({ mentioned }: { mentioned: ReadonlySet<string> }) => ((message = useDetached([doc("a"), doc("b"), inLibrary], mentioned, onBack)), null);
  const show = (...ids: string[]) => act(async () => root.render(createElement(Message, { mentioned: new Set(ids) })));
  await show("a", "b", "kept", "other");
  await show("b");
  expect(toast).toHaveBeenCalledOnce();
  await message.settle();
  expect(deleted()).toEqual(["DELETE /api/documents/a"]);
  await show(); // sent
  expect(message.settle()).toBeUndefined();
});

it("stays when its mention comes back, and when that is undone", async () => {
  const Message = ({ mentioned }: { mentioned: ReadonlySet<string> }) => ((message = useDetached([doc("a")], mentioned, onBack)), null);
  const show = (...ids: string[]) => act(async () => root.render(createElement(Message, { mentioned: new Set(ids) })));
  await show("a");
  await show();
  await show("a");
  expect(message.settle()).toBeUndefined();
  await show("a");
  await show();
  vi.mocked(toast).mock.lastCall![1]!.action!.onClick();
  expect(onBack).toHaveBeenCalledWith(doc("a"));
  expect(message.settle()).toBeUndefined();
  expect(deleted()).toEqual([]);
});

it("is deleted once when it is removed with its button", async () => {
  await write([doc("a")], "a");
  await act(async () => {
    message.detach(doc("a"));
    message.detach(doc("a"));
  });
  await message.settle();
  expect(deleted()).toEqual(["DELETE /api/documents/a"]);
});
