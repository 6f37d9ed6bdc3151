// @vitest-environment jsdom
import type { Editor } from "@tiptap/core";
import { act, createElement, StrictMode, useLayoutEffect, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { extensions, type Listener } from "./editor";
import { docOf, emptyDoc } from "./outgoing";
import { useEditor } from "./useEditor";

const SLOW_MS = 1_000;
const listener: Listener = { onAsk: () => {}, onListKey: () => false, enterSends: () => true, onEnter: () => {}, onEscape: () => {}, onPaste: () => {}, placeholder: () => "", attributes: () => ({}) };

let editors: Set<Editor>;
let slow: boolean;
let root: Root;

/** A field that renders long before its effects run. */
function Field() {
  const editor = useEditor({ extensions: extensions(() => listener), content: emptyDoc, injectCSS: false });
  editors.add(editor);
  useLayoutEffect(() => {
    if (slow) vi.advanceTimersByTime(SLOW_MS);
    slow = false;
  }, []);
  return null;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  [editors, slow] = [new Set(), true];
  root = createRoot(document.createElement("div"));
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const render = (what: ReactNode) => act(async () => root.render(what));

it.each([
  ["on a slow machine", createElement(Field)],
  ["under StrictMode", createElement(StrictMode, null, createElement(Field))],
])("the first editor is kept and usable %s", async (_, field) => {
  await render(field);
  vi.advanceTimersByTime(SLOW_MS);
  await render(field);
  const [editor] = editors;
  expect([editors.size, editor!.isDestroyed]).toEqual([1, false]);
  editor!.commands.setContent(docOf("words"));
  expect(editor!.getText()).toBe("words");
});

it("an editor is destroyed with its component", async () => {
  await render(createElement(Field));
  await act(async () => root.unmount());
  vi.advanceTimersByTime(SLOW_MS);
  expect([...editors].map((e) => e.isDestroyed)).toEqual([true]);
});
