// @vitest-environment jsdom
import { createElement } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, request } from "../api/http";
import { forSpace } from "../api/space";
import { deleteLater, useDeleted } from "./deletions";
import { toast } from "./toast";

const closed = vi.hoisted(() => vi.fn());
vi.mock("../api/http", async (original) => ({ ...(await original<object>()), request: vi.fn() }));
vi.mock("./toast", () => ({ toast: Object.assign(vi.fn(() => closed), { error: vi.fn() }) }));

const sent = vi.mocked(request);

beforeEach(() => {
  vi.clearAllMocks();
  sent.mockResolvedValue(new Response());
});

/** Returns what lists hide now. */
function whatIsHidden(): () => ReadonlySet<string> {
  let now: ReadonlySet<string> = new Set();
  const Show = () => ((now = useDeleted()), null);
  flushSync(() => createRoot(document.createElement("div")).render(createElement(Show)));
  return () => now;
}

let last = 0;
/** A deletion and its notice. */
function deletion() {
  const d = { path: `/api/things/${++last}`, text: "It was deleted.", onUndo: vi.fn(), onDeleted: vi.fn() };
  const waiting = deleteLater(d);
  const options = vi.mocked(toast).mock.lastCall![1]!;
  return { ...d, ...waiting, undo: () => options.action!.onClick(), end: () => options.onClose!() };
}

describe("a deletion", () => {
  it("is sent once, when its notice closes", async () => {
    const d = deletion();
    expect(sent).not.toHaveBeenCalled();
    d.end();
    d.end();
    await vi.waitFor(() => expect(d.onDeleted).toHaveBeenCalledOnce());
    expect(sent).toHaveBeenCalledExactlyOnceWith(d.path, { method: "DELETE", keepalive: true, headers: forSpace("") });
  });

  it("that was undone is never sent", () => {
    const d = deletion();
    d.undo();
    d.end();
    expect(d.onUndo).toHaveBeenCalledOnce();
    expect(sent).not.toHaveBeenCalled();
  });

  it("can be kept or sent before its notice closes, which then closes", async () => {
    const kept = deletion();
    kept.keep();
    kept.end();
    expect(sent).not.toHaveBeenCalled();
    expect(kept.onUndo).not.toHaveBeenCalled();
    const gone = deletion();
    await gone.now();
    gone.end();
    expect(sent).toHaveBeenCalledOnce();
    expect(closed).toHaveBeenCalledTimes(2);
  });

  it("is sent at once when the page closes", () => {
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response());
    const d = deletion();
    dispatchEvent(new Event("pagehide"));
    expect(fetched).toHaveBeenCalledExactlyOnceWith(d.path, { method: "DELETE", keepalive: true, headers: new Headers() });
    d.end();
    expect(sent).not.toHaveBeenCalled();
  });

  it("of several things hides them all, sends one request, and shows what was not deleted again", async () => {
    const hidden = whatIsHidden();
    const init = { method: "POST", body: "[]" };
    deleteLater({ path: "/batch", init, hides: ["/a", "/b"], left: async () => ["/b"], text: "2 were deleted.", onDeleted: vi.fn() });
    await vi.waitFor(() => expect([hidden().has("/a"), hidden().has("/b")]).toEqual([true, true]));
    vi.mocked(toast).mock.lastCall![1]!.onClose!();
    await vi.waitFor(() => expect([hidden().has("/a"), hidden().has("/b")]).toEqual([true, false]));
    expect(sent).toHaveBeenCalledExactlyOnceWith("/batch", { ...init, keepalive: true, headers: forSpace("") });
  });

  it("that fails shows an error, unless the item was already deleted", async () => {
    sent.mockRejectedValueOnce(new ApiError(503, "", "Not now."));
    deletion().end();
    await vi.waitFor(() => expect(toast.error).toHaveBeenCalledWith(expect.stringContaining("Not now.")));
    vi.mocked(toast.error).mockClear();
    sent.mockRejectedValueOnce(new ApiError(404, "", ""));
    const d = deletion();
    d.end();
    await vi.waitFor(() => expect(d.onDeleted).toHaveBeenCalled());
    expect(toast.error).not.toHaveBeenCalled();
  });
});
