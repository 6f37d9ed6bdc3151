// @vitest-environment jsdom
import { act, createElement, type ReactElement } from "react";
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
  let Box: (props: { sent?: string }) => ReactElement;
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
    Box = ({ sent }) => {
      reader = useReader(true, sent, false);
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

  /** Shows a new message, 900 px below the top of the content. */
  const sends = (sent: string) => {
    const row = document.createElement("p");
    row.dataset.role = "user";
    row.getBoundingClientRect = () => ({ top: 900 - page.scrollTop, bottom: 960 - page.scrollTop }) as DOMRect;
    reader.list.current!.append(row);
    return act(async () => root.render(createElement(Box, { sent })));
  };
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

  it("leaves it with a slow drag, and returns with one", async () => {
    reader.moves.onTouchMove();
    for (const to of [1490, 1480, 1470]) {
      await scrolls(to);
      await grows(page.scrollHeight + 20);
      expect(page.scrollTop).toBe(to);
    }
    await scrolls(1500);
    await grows(2300);
    expect(page.scrollTop).toBe(1800);
  });

  it("reads on in a long answer whose start is shown", async () => {
    await sends("m1");
    await grows(4000);
    expect(page.scrollTop).toBe(900);
    reader.moves.onWheel();
    await scrolls(1000);
    await grows(4200);
    expect(page.scrollTop).toBe(1000);
    await scrolls(3700);
    await grows(4400);
    expect(page.scrollTop).toBe(3900);
  });

  it("leaves it when the browser finds words further up", async () => {
    await scrolls(300);
    await grows(2600);
    expect(page.scrollTop).toBe(300);
  });
});
