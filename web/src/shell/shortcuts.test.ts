import { expect, test } from "vitest";
import { shortcutOf, shortcuts } from "./shortcuts";

const none = { ctrlKey: false, metaKey: false, shiftKey: false, altKey: false };

test.each([
  ["Ctrl+K searches", { key: "k", ctrlKey: true }, "search"],
  ["with caps lock, too", { key: "K", ctrlKey: true }, "search"],
  ["Ctrl+Shift+O starts a new chat", { key: "O", ctrlKey: true, shiftKey: true }, "new"],
  ["Shift+Esc goes to the message", { key: "Escape", shiftKey: true }, "write"],
  ["Ctrl+/ lists them", { key: "/", ctrlKey: true }, "list"],
  ["Esc alone is the stop", { key: "Escape" }, null],
  ["a letter alone is a letter", { key: "k" }, null],
  ["with Alt it is another's", { key: "k", ctrlKey: true, altKey: true }, null],
  ["Ctrl+O opens a file", { key: "o", ctrlKey: true }, null],
  ["Ctrl+Shift+K is the browser's", { key: "K", ctrlKey: true, shiftKey: true }, null],
])("%s", (_, keys, want) => {
  expect(shortcutOf({ ...none, ...keys }, "ctrlKey")).toBe(want);
});

test("a Mac uses Command instead of Ctrl", () => {
  expect(shortcutOf({ ...none, key: "k", metaKey: true }, "metaKey")).toBe("search");
  expect(shortcutOf({ ...none, key: "k", ctrlKey: true }, "metaKey")).toBeNull();
});

test("the list says that Enter sends; on a touch screen it does not", () => {
  const enter = (touch: boolean) => shortcuts(touch).filter(({ keys }) => keys.join() === "Enter");
  expect(enter(false).map(({ what }) => what)).toEqual(["Send (stops the current answer)"]);
  expect(enter(true).map(({ what }) => what)).toEqual(["New line"]);
});
