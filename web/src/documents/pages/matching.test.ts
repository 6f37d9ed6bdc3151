import { describe, expect, it } from "vitest";
import { marked, quoteIn, wordsIn, type Item } from "./matching";

const page = (...lines: string[]): Item[] => lines.map((str) => ({ str, hasEOL: true }));
const shown = (pages: Item[][], quote: string) => {
  const found = quoteIn(pages, quote);
  return found && [...found].map(([n, ranges]) => [n, ...ranges.map((r) => pages[n]![r.item]!.str.slice(r.start, r.end))]);
};

describe("a quote on pages", () => {
  const first = page("Rules of the harbour", "The harbour mas-", "ter closes the", "light", "house at 22 hours. Ships", "wait.");

  it("is found across lines and items, ignoring white space and hyphens", () => {
    expect(shown([first], "The harbour master closes the\nlighthouse at 22 hours.")).toEqual([[0, "The harbour mas", "ter closes the", "light", "house at 22 hours"]]);
  });

  it("is found within an item", () => {
    expect(shown([first], "closes")).toEqual([[0, "closes"]]);
  });

  it("is found across the end of a page, even with a footer in between", () => {
    const begin = page("Every ship that enters reports its cargo to", "Page 1");
    const end = page("Harbour rules", "the office of the harbour within two hours. More.");
    const quote = "Every ship that enters reports its cargo to the office of the harbour within two hours.";
    expect(shown([begin, end], quote)).toEqual([
      [0, "Every ship that enters reports its cargo to"],
      [1, "the office of the harbour within two hours"],
    ]);
    expect(shown([page("reports its cargo to"), page("the office")], "cargo to the office")).toEqual([
      [0, "cargo to"],
      [1, "the office"],
    ]);
  });

  it("is found with ligatures, other scripts and characters of two UTF-16 units", () => {
    expect(shown([page("Eﬃcient ﬁles")], "efficient files")).toEqual([[0, "Eﬃcient ﬁles"]]);
    expect(shown([page("灯台は 22 時に閉まる。")], "22時に閉まる")).toEqual([[0, "22 時に閉まる"]]);
    expect(shown([page("𝟐𝟐 hours 🌍 sharp")], "hours sharp")).toEqual([[0, "hours 🌍 sharp"]]);
  });

  it("is not found when it is not there", () => {
    expect(quoteIn([first], "The harbour master opens")).toBeNull();
    expect(quoteIn([first], " — ")).toBeNull();
    expect(quoteIn([], "x")).toBeNull();
  });
});

describe("words on a page", () => {
  it("are found across items and line ends", () => {
    const items = [{ str: "The har" }, { str: "bour", hasEOL: true }, { str: "master. The HARBOUR", hasEOL: true }];
    const text = (search: string) => wordsIn(items, search).map((m) => m.map((r) => items[r.item]!.str.slice(r.start, r.end)));
    expect(text("harbour")).toEqual([["har", "bour"], ["HARBOUR"]]);
    expect(text("harbour master")).toEqual([["har", "bour", "master"]]);
    expect(text("the rapist")).toEqual([]);
    expect(text(" ")).toEqual([]);
  });
});

describe("marks", () => {
  it("split the text of an item", () => {
    const at = (start: number, end: number) => ({ item: 0, start, end });
    expect(marked("abcdef", [at(4, 5), at(1, 3), at(2, 4)])).toEqual([
      { text: "a", mark: false },
      { text: "bc", mark: true },
      { text: "d", mark: true },
      { text: "e", mark: true },
      { text: "f", mark: false },
    ]);
    expect(marked("ab", [])).toEqual([{ text: "ab", mark: false }]);
  });
});
