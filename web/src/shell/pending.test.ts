// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import type { Outgoing } from "../composer/types";
import { dropPending, keepPending, pendingOf } from "./pending";

beforeEach(() => sessionStorage.clear());

const out: Outgoing = { text: "Hello", tiptap: { type: "doc" }, taggedDocIds: [], taggedSetIds: [], webSearch: false, attachments: [], onBusy: "supersede" };

it("keeps the message of the welcome page until its conversation has accepted it", () => {
  keepPending("t1", out);
  expect(pendingOf("t1")).toEqual(out);
  expect(pendingOf("t1")).toEqual(out); // reading does not delete it: the page may reload
  expect(pendingOf("t2")).toBeUndefined();
  dropPending("t1");
  expect(pendingOf("t1")).toBeUndefined();
});

it("ignores other stored values", () => {
  sessionStorage.setItem("palaver.pending.t1", '{"text":1}');
  expect(pendingOf("t1")).toBeUndefined();
});
