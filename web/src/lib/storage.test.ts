// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Outgoing } from "../composer/types";
import { docOf } from "../composer/outgoing";
import { readDraft, saveDraft } from "../composer/drafts";
import { dropPending, keepPending, pendingOf } from "../shell/pending";
import { local, session } from "./storage";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  for (const kept of [local, session]) kept.write("k", null);
});

const spoil = (name: "getItem" | "setItem" | "removeItem") =>
  vi.spyOn(Storage.prototype, name).mockImplementation(() => {
    throw new DOMException("no room", "QuotaExceededError");
  });

it("keeps and removes a value", () => {
  local.write("k", "v");
  expect([local.read("k"), localStorage.getItem("k"), session.read("k")]).toEqual(["v", "v", null]);
  local.write("k", null);
  expect([local.read("k"), localStorage.getItem("k")]).toEqual([null, null]);
});

it("ignores invalid JSON", () => {
  local.write("k", "{");
  expect(local.readJSON("k")).toBeNull();
});

it("keeps a value in memory when the storage is full, and prefers it to the stored one", () => {
  local.write("k", "old");
  const full = spoil("setItem");
  local.write("k", "new");
  expect(local.read("k")).toBe("new");
  full.mockRestore();
  local.write("k", "newest");
  expect([local.read("k"), localStorage.getItem("k")]).toEqual(["newest", "newest"]);
});

const message: Outgoing = { text: "Hello", tiptap: { type: "doc" }, taggedDocIds: [], taggedSetIds: [], webSearch: false, attachments: [], onBusy: "supersede" };

describe.each([
  [
    "is forbidden",
    () => {
      for (const name of ["localStorage", "sessionStorage"])
        vi.spyOn(window, name as "localStorage", "get").mockImplementation(() => {
          throw new DOMException("forbidden", "SecurityError");
        });
    },
  ],
  ["is full", () => void spoil("setItem")],
  ["throws on every access", () => void (spoil("setItem"), spoil("getItem"), spoil("removeItem"))],
])("if storage %s", (_, break_) => {
  beforeEach(break_);

  it("the first message still reaches its conversation", () => {
    keepPending("t1", message);
    expect(pendingOf("t1")).toEqual(message);
    dropPending("t1");
    expect(pendingOf("t1")).toBeUndefined();
  });

  it("a draft is kept until the page unloads", () => {
    const draft = { doc: docOf("words"), attachments: [] };
    saveDraft("t1", draft);
    expect(readDraft("t1")).toEqual(draft);
    saveDraft("t1", null);
    expect(readDraft("t1")).toBeNull();
  });
});
