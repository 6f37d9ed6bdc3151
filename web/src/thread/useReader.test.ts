// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endOf, useReader, type Reader } from "./useReader";

describe("the end that is shown", () => {
  it.each([
    ["all of a short conversation", 500, 800, null, 0],
    ["the end without a new answer", 3000, 800, null, 2200],
    ["the end of an answer that fits", 1300, 800, { question: 900, answer: 960 }, 500],
    ["the question and the beginning of an answer that does not fit", 5000, 800, { question: 900, answer: 960 }, 900],
    ["the end of a long question and the beginning of its answer", 5000, 800, { question: 900, answer: 2900 }, 2580],
  ] as const)("is %s", (_, height, view, begin, want) => expect(endOf(height, view, begin)).toBe(want));
});

describe("a reader at the end of a growing answer", () => {
  let root: Root;
  let reader: Reader;
  let resized: () => void;
  const page = { scrollHeight: 0, clientHeight: 500, scrollTop: 0 };

  beforeEach(async () => {
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
    vi.stubGlobal("ResizeObserver", class {
      constructor(call: () => void) {
        resized = call;
      }
      observe() {}
      disconnect() {}
    });
    document.elementFromPoint = () => null;
    const Box = () => {
      reader = useReader(true, undefined, false);
      return createElement("div", { ref: reader.box }, createElement("div", { ref: reader.list }));
    };
    root = createRoot(document.createElement("div"));
    await act(async () => root.render(createElement(Box)));
    const top = { get: () => page.scrollTop, set: (to: number) => void (page.scrollTop = Math.min(to, page.scrollHeight - page.clientHeight)) };
    Object.defineProperties(reader.box.current!, { scrollTop: top, scrollHeight: { get: () => page.scrollHeight }, clientHeight: { get: () => page.clientHeight } });
    await grows(2000);
    expect(page.scrollTop).toBe(1500);
  });
  afterEach(async () => {
    await act(async () => root.unmount());
    vi.unstubAllGlobals();
  });

  const grows = (to: number) => act(async () => ((page.scrollHeight = to), resized()));
  const scrolls = (to: number) => act(async () => ((page.scrollTop = to), reader.onScroll()));

  it("stays there when rows above turn out shorter while it grows", async () => {
    page.scrollHeight = 2300;
    await scrolls(1400);
    expect(page.scrollTop).toBe(1800);
    await grows(2600);
    expect(page.scrollTop).toBe(2100);
  });

  it("leaves it with a wheel", async () => {
    reader.moves.onWheel();
    page.scrollHeight = 2300;
    await scrolls(1400);
    await grows(2600);
    expect(page.scrollTop).toBe(1400);
  });

  it("leaves it when the browser finds words further up", async () => {
    await scrolls(300);
    await grows(2600);
    expect(page.scrollTop).toBe(300);
  });
});
