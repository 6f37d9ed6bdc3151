import { describe, expect, it } from "vitest";
import { placeOf } from "./useRoute";

const ID = "0190a0a0-0000-7000-8000-000000000000";

describe("the place of an address", () => {
  it.each([
    ["/", { page: "chat", id: null }],
    ["/chat", { page: "chat", id: null }],
    ["/chat/", { page: "chat", id: null }],
    [`/chat/${ID.toUpperCase()}`, { page: "chat", id: ID }],
    ["/chat/support-42", { page: "chat", id: null, name: "support-42" }],
    ["/chat/a%20b", null],
    ["/discovery", { page: "discovery", id: null }],
    ["/discovery/board", null],
    ["/admin", { page: "admin", id: null }],
    ["/admin/people", null],
    ["/chat/a/b", null],
  ])("%s", (path, place) => expect(placeOf(path)).toEqual(place));
});
