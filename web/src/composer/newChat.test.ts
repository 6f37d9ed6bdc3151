// @vitest-environment jsdom
import { beforeEach, expect, it } from "vitest";
import { isUUID } from "../lib/id";
import { beginChat, nextChat, returnChat } from "./newChat";

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
