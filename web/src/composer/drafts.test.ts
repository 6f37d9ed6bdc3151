// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { readDraft, saveDraft } from "./drafts";
import { docOf } from "./outgoing";

beforeEach(() => localStorage.clear());

const draft = (text: string) => ({ doc: docOf(text), attachments: [{ id: "a1", url: "/api/attachments/a1", mime: "image/png", name: "a.png" }] });

describe("a draft", () => {
  it("is stored per thread", () => {
    saveDraft("t1", draft("one"));
    saveDraft(null, draft("welcome"));
    expect(readDraft("t1")).toEqual(draft("one"));
    expect(readDraft(null)).toEqual(draft("welcome"));
    expect(readDraft("t2")).toBeNull();
  });

  it("is deleted when it was sent", () => {
    saveDraft("t1", draft("one"));
    saveDraft("t1", null);
    expect(readDraft("t1")).toBeNull();
    expect(localStorage.getItem("palaver.drafts")).toBe("[]");
  });

  it("is evicted when there are many newer ones", () => {
    for (let i = 0; i < 50; i++) saveDraft(`t${i}`, draft(String(i)));
    expect(readDraft("t0")).toBeNull();
    expect(readDraft("t49")).toEqual(draft("49"));
    expect(Object.keys(localStorage)).toHaveLength(41);
  });

  it("is ignored if it is invalid", () => {
    for (const corrupt of ["{", "[]", '{"doc":{"type":"other"},"attachments":[]}', '{"doc":{"type":"doc"}}']) {
      localStorage.setItem("palaver.draft.t1", corrupt);
      expect(readDraft("t1")).toBeNull();
    }
  });
});
