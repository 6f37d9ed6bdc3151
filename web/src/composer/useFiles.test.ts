// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sendFile } from "../api/upload";
import { useFiles } from "./useFiles";

vi.mock("../api/upload", () => ({ sendFile: vi.fn() }));
vi.mock("../api/useConfig", () => ({ useConfig: () => ({ maxUpload: 1000 }) }));

/** Uploads that the test completes. */
let sent: { path: string; name: string; signal: AbortSignal; end: (answer: unknown) => void }[];
let files: ReturnType<typeof useFiles>;
let root: Root;
let chat: string | null = null;
const onDocument = vi.fn();

beforeEach(async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  vi.clearAllMocks();
  sent = [];
  vi.mocked(sendFile).mockImplementation((path, file, { signal }) =>
    new Promise((end, fail) => {
      signal.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError")));
      sent.push({ path, name: file.name, signal, end: end as (answer: unknown) => void });
    }),
  );
  const Message = () => {
    files = useFiles([], chat, onDocument, () => ({ at: () => 7, forget: () => {} }));
    return null;
  };
  root = createRoot(document.createElement("div"));
  await act(async () => root.render(createElement(Message)));
});
afterEach(() => vi.unstubAllGlobals());

const pictures = (n: number) => Array.from({ length: n }, (_, i) => new File(["x"], `${i}.png`, { type: "image/png" }));
const add = (what: File[]) => act(async () => files.add(what));
const refused = () => files.uploads.filter((u) => u.error).length;

it("a message has at most eight pictures, including running uploads", async () => {
  await add(pictures(5));
  await add(pictures(5));
  expect([files.uploads.length, refused()]).toEqual([10, 2]);
  for (let i = 0; i < 8; i++) await act(async () => sent[i]!.end({ id: `p${i}`, url: "/p" }));
  await add(pictures(1));
  expect([files.attachments.length, refused()]).toEqual([8, 3]);
});

it("a cancelled picture no longer counts towards the maximum", async () => {
  await add(pictures(8));
  await act(async () => files.dismiss(files.uploads[0]!.key));
  await add(pictures(1));
  expect(refused()).toBe(0);
});

it("running uploads are cancelled when the message is discarded, and are not mentioned", async () => {
  await add([...pictures(1), new File(["x"], "a.md", { type: "text/markdown" }), new File(["x"], "b.md", { type: "text/markdown" })]);
  await act(async () => {
    sent[1]!.end({ id: "d1", title: "a" }); // together with the unmount
    root.unmount();
  });
  expect(sent.map((s) => [s.name, s.signal.aborted])).toEqual([
    ["0.png", true],
    ["a.md", true],
    ["b.md", true],
  ]);
  expect(onDocument).not.toHaveBeenCalled();
});

it("a file becomes a document of the chat, and a pasted text one with a title", async () => {
  chat = "c1";
  await act(async () => root.render(createElement(() => ((files = useFiles([], chat, onDocument, () => ({ at: () => 7, forget: () => {} }))), null))));
  await act(async () => files.add([new File(["x"], "a.md", { type: "text/markdown" })]));
  await act(async () => files.paste("Minutes of the harbour\nThe keeper speaks at length."));
  expect(vi.mocked(sendFile).mock.calls.map(([path, file, { fields }]) => [path, file.name, fields])).toEqual([
    ["/api/documents", "a.md", { conversation_id: "c1" }],
    ["/api/documents", "Minutes of the harbour.txt", { conversation_id: "c1", title: "Minutes of the harbour" }],
  ]);
  await act(async () => sent.forEach((s, i) => s.end({ id: `d${i}`, title: "t" })));
  expect(files.kept).toEqual([{ id: "d0", text: undefined }, { id: "d1", text: "Minutes of the harbour\nThe keeper speaks at length." }]);
  await act(async () => files.clear());
  expect(files.kept).toEqual([]);
  chat = null;
});
