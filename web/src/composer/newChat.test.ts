// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { isUUID } from "../lib/id";
import { beginChat, isFresh, keepChat, nextChat, returnChat } from "./newChat";

beforeEach(() => localStorage.clear());

it("a new chat begins with the id that its attachments have got", () => {
  const id = nextChat();
  expect(isUUID(id)).toBe(true);
  expect(nextChat()).toBe(id);
  expect(beginChat()).toBe(id);
  expect(nextChat()).not.toBe(id);
});

it("a chat whose first message was not sent keeps its id, and so its attachments", () => {
  const id = beginChat();
  returnChat(id);
  expect(beginChat()).toBe(id);
});

it("an id is stored with the first thing that belongs to it, and is the one that another tab has stored", () => {
  const id = nextChat();
  expect([isFresh(id), localStorage.length]).toEqual([true, 0]);
  expect(keepChat(id)).toBe(id);
  expect([isFresh(id), nextChat(), Object.values(localStorage)]).toEqual([false, id, [id]]);

  beginChat();
  const here = nextChat();
  returnChat("there"); // by another tab
  expect(keepChat(here)).toBe("there");
  expect([keepChat("c1"), beginChat()]).toEqual(["c1", "there"]); // c1 has begun long ago
});
