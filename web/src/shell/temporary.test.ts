// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { isTemporary, keepTemporary, useLeaveTemporary } from "./temporary";

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

let deleted: string[];
let status: number;
let taken: Set<string>; // the locks of open tabs

beforeEach(() => {
  sessionStorage.clear();
  localStorage.clear();
  taken = new Set();
  vi.stubGlobal("navigator", { ...navigator, locks: { request: async (name: string, ...[options, act = options]: unknown[]) => (act as (lock: unknown) => unknown)(options !== act && taken.has(name) ? null : (taken.add(name), {})) } });
  deleted = [];
  status = 204;
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    deleted.push(`${init.method} ${url}`);
    return new Response(status === 204 ? null : "{}", { status });
  });
});
afterEach(() => vi.unstubAllGlobals());

const Page = ({ id }: { id: string | null }) => (useLeaveTemporary(id), null);

it("deletes a temporary conversation when another page is shown, and not before", async () => {
  const root = createRoot(document.createElement("div"));
  const show = (id: string | null) => act(async () => root.render(createElement(Page, { id })));
  keepTemporary("t1");
  await show("t1"); // also after a reload
  expect(deleted).toEqual([]);
  await show("other");
  expect(deleted).toEqual(["DELETE /api/conversations/t1"]);
  expect(isTemporary("t1")).toBe(false);
  await show(null);
  expect(deleted).toHaveLength(1);
});

it("tries again when the server could not be reached, and forgets what is deleted", async () => {
  const root = createRoot(document.createElement("div"));
  const show = (id: string | null) => act(async () => root.render(createElement(Page, { id })));
  keepTemporary("t1");
  status = 503;
  await show(null);
  expect(isTemporary("t1")).toBe(true);
  status = 404;
  await show("other");
  expect(isTemporary("t1")).toBe(false);
});

it("deletes what a closed tab has left, and nothing of an open one", async () => {
  keepTemporary("gone");
  keepTemporary("open");
  sessionStorage.clear(); // another tab
  vi.resetModules();
  const other = await import("./temporary");
  const OtherPage = () => (other.useLeaveTemporary(null), null);
  taken.delete("palaver.temporary.gone");
  await act(async () => createRoot(document.createElement("div")).render(createElement(OtherPage)));
  await vi.waitFor(() => expect(deleted).toEqual(["DELETE /api/conversations/gone"]));
  taken.clear();
  vi.resetModules();
  const last = await import("./temporary");
  await act(async () => createRoot(document.createElement("div")).render(createElement(() => (last.useLeaveTemporary(null), null))));
  await vi.waitFor(() => expect(deleted).toEqual(["DELETE /api/conversations/gone", "DELETE /api/conversations/open"]));
  expect(localStorage.length).toBe(0);
});
