import { useEffect, type RefObject } from "react";
import { marked, type Range } from "./matching";
import type { Word } from "./pdf";

/** The elements of a page's text that lie over its picture, and their texts. */
export interface Layer {
  divs: HTMLElement[];
  texts: string[];
  /** Whether only whole elements are marked, because where their letters are is not known. */
  whole?: boolean;
}

/** Puts the words of a scanned page into an element that lies over its picture. */
export function layWords(over: HTMLElement, scan: readonly Word[]): Layer {
  const divs = scan.map(({ text, box: [left, top, right, bottom] }) => {
    const word = document.createElement("span");
    word.textContent = text;
    Object.assign(word.style, { left: `${left / 100}%`, top: `${top / 100}%`, width: `${(right - left) / 100}%`, height: `${(bottom - top) / 100}%` });
    return word;
  });
  over.replaceChildren(...divs);
  return { divs, texts: scan.map(({ text }) => text), whole: true };
}

/** Marks ranges of a page's text, and scrolls to the current ones. drawn changes when the layer does. */
export function useMarks(layer: RefObject<Layer | null>, drawn: number, marks: readonly Range[], current: readonly Range[] | undefined, onMark: (mark: HTMLElement) => void) {
  useEffect(() => {
    if (!layer.current) return;
    const { divs, texts, whole } = layer.current;
    const rangesOf = (item: number): Range[] => {
      const ranges = marks.filter((r) => r.item === item);
      return whole && ranges.length > 0 ? [{ item, start: 0, end: texts[item]!.length }] : ranges;
    };
    divs.forEach((div, item) => {
      const ranges = rangesOf(item);
      if (ranges.length === 0 && !div.firstElementChild) return;
      div.replaceChildren(...marked(texts[item]!, ranges).map((piece) => (piece.mark ? markOf(piece.text) : document.createTextNode(piece.text))));
    });
    const first = current?.[0];
    const ranges = first ? rangesOf(first.item).sort((a, b) => a.start - b.start) : [];
    const mark = first && divs[first.item]?.querySelectorAll("mark")[whole ? 0 : ranges.findIndex((r) => r.start === first.start)];
    if (!mark) return;
    for (const r of current) divs[r.item]?.querySelectorAll("mark").forEach((m) => m.setAttribute("aria-current", "true"));
    mark.scrollIntoView({ block: "center", inline: "nearest" });
    onMark(mark as HTMLElement);
  }, [drawn, marks, current, onMark]);
}

function markOf(text: string): HTMLElement {
  const mark = document.createElement("mark");
  mark.textContent = text;
  return mark;
}
