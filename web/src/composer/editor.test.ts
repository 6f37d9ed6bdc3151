// @vitest-environment jsdom
import { Editor } from "@tiptap/core";
import { AllSelection } from "@tiptap/pm/state";
import { afterEach, expect, it, vi } from "vitest";
import { append, endPlace, extensions, removeMention, removeText, type Listener } from "./editor";
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

afterEach(() => {
  vi.useRealTimers();
  editor.destroy();
});

it.each([
  ["to an empty text, before the caret", "|", "@Notes typed"],
  ["after a space, before the caret", "See |", "See @Notes typed"],
  ["after a line break, before the caret", "See\n|", "See\n@Notes typed"],
  ["after a word that is being typed, with a space; the caret stays", "Se|", "Setyped @Notes "],
  ["at the end; a caret in the middle stays", "Se| this", "Setyped this @Notes "],
  ["at the end of a text that ends with a space; a caret in the middle stays", "Se| this ", "Setyped this @Notes "],
  ["after selected text, which stays selected", "See |this|", "See typed @Notes "],
])("a mention is appended %s", (_, before, after) => {
  write(before);
  append(editor, notes);
  editor.view.dispatch(editor.state.tr.insertText("typed")); // shows where the caret is
  expect(editor.getText()).toBe(after);
});

it("a mention that is appended while everything is selected is not selected", () => {
  write("See this|");
  editor.view.dispatch(editor.state.tr.setSelection(new AllSelection(editor.state.doc)));
  append(editor, notes);
  editor.view.dispatch(editor.state.tr.insertText("typed"));
  expect(editor.getText()).toBe("typed @Notes ");
});

it("appending a mention does not take the focus", () => {
  write("See|");
  document.body.append(editor.view.dom);
  append(editor, notes);
  expect(document.activeElement).toBe(document.body);
});

it("mentions that are appended at one place follow each other, before what is typed there", () => {
  write("Check |");
  const places = [endPlace(editor), endPlace(editor)];
  editor.view.dispatch(editor.state.tr.insertText("both"));
  places.forEach((place, i) => append(editor, { ...notes, id: `d${i}`, label: `Note ${i}` }, place.at()));
  expect(editor.getText()).toBe("Check @Note 0 @Note 1 both");
});

it.each([
  ["", "Which are open?|", "@Notes Which are open?typed"],
  ["Check ", "Check the fees|", "Check @Notes the feestyped"],
  ["Check", "Check the fe|es", "Check @Notes  the fetypedes"],
])("a mention stands where the message ended when it was attached: %s", (then, now, after) => {
  write(now);
  append(editor, notes, 1 + then.length);
  editor.view.dispatch(editor.state.tr.insertText("typed"));
  expect(editor.getText()).toBe(after);
});

it.each([
  ["an appended mention", () => append(editor, notes), "See @Zero @Notes "],
  ["a removed mention", () => removeMention(editor, "d0"), "See "],
  ["a removed text", () => removeText(editor, "See"), " @Zero "],
])("undo takes back %s alone, and what was deleted just after it alone", (_, act, after) => {
  vi.setSystemTime(1); // changes at the same time are one for undo
  write("See |");
  append(editor, { ...notes, id: "d0", label: "Zero" });
  act();
  expect(editor.getText()).toBe(after);
  editor.commands.clearContent(true);
  expect(editor.getText()).toBe("");
  editor.commands.undo();
  expect(editor.getText()).toBe(after);
  editor.commands.undo();
  expect(editor.getText()).toBe("See @Zero ");
});
