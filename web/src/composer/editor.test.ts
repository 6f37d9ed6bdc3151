// @vitest-environment jsdom
import { Editor } from "@tiptap/core";
import { AllSelection } from "@tiptap/pm/state";
import { afterEach, expect, it } from "vitest";
import { append, extensions, type Listener } from "./editor";
import { docOf } from "./outgoing";

const listener: Listener = { onAsk: () => {}, onListKey: () => false, enterSends: () => true, onEnter: () => {}, onEscape: () => {}, onPaste: () => {}, placeholder: () => "", attributes: () => ({}) };
const notes = { category: "document", id: "d1", label: "Notes" } as const;

let editor: Editor;

/** An editor with this text. "|" is the caret, or both ends of the selection. */
function write(marked: string) {
  const [first, last] = [marked.indexOf("|"), marked.lastIndexOf("|")];
  editor = new Editor({ extensions: extensions(() => listener), content: docOf(marked.replaceAll("|", "")), injectCSS: false });
  editor.commands.setTextSelection({ from: first + 1, to: last === first ? first + 1 : last });
}

afterEach(() => editor.destroy());

it.each([
  ["in an empty text, the caret behind it", "|", "@Notes typed"],
  ["behind a space, the caret behind it", "See |", "See @Notes typed"],
  ["behind a line break, the caret behind it", "See\n|", "See\n@Notes typed"],
  ["behind a word that is being typed, with a space", "Se|", "Setyped @Notes "],
  ["at the end, the caret left in the middle", "Se| this", "Setyped this @Notes "],
  ["at the end, the caret left in the middle of what ends in a space", "Se| this ", "Setyped this @Notes "],
  ["behind what is selected, which stays selected", "See |this|", "See typed @Notes "],
])("a document that comes is mentioned %s", (_, before, after) => {
  write(before);
  append(editor, notes);
  editor.view.dispatch(editor.state.tr.insertText("typed")); // like a key
  expect(editor.getText()).toBe(after);
});

it("a document that is inserted while everything is selected does not join the selection", () => {
  write("See this|");
  editor.view.dispatch(editor.state.tr.setSelection(new AllSelection(editor.state.doc)));
  append(editor, notes);
  editor.view.dispatch(editor.state.tr.insertText("typed"));
  expect(editor.getText()).toBe("typed @Notes ");
});

it("inserting a document does not take the focus", () => {
  write("See|");
  document.body.append(editor.view.dom);
  append(editor, notes);
  expect(document.activeElement).toBe(document.body);
});
