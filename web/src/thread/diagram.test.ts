// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";

const DRAWN = { svg: "<svg/>", width: 10, height: 20 };
let answer: (asked: { code: string; dark: boolean }) => unknown;
let asked: string[];
let draw: typeof import("./diagram").draw;

beforeEach(async () => {
  vi.resetModules();
  asked = [];
  answer = () => DRAWN;
  vi.spyOn(document.body, "append").mockImplementation((...nodes) => {
    const el = nodes[0] as HTMLIFrameElement;
    expect(el.getAttribute("sandbox")).toBe("allow-scripts");
    const postMessage = (message: { code: string; dark: boolean }, _: string, [port]: MessagePort[]) => {
      asked.push(message.code);
      const said = answer(message);
      if (said !== undefined) port!.postMessage(said);
    };
    Object.defineProperty(el, "contentWindow", { value: { postMessage } });
    el.onload?.(new Event("load"));
  });
  await import("../words/english");
  draw = (await import("./diagram")).draw;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it("a diagram is drawn once", async () => {
  expect(await draw("pie", false)).toEqual(DRAWN);
  expect(await draw("pie", false)).toEqual(DRAWN);
  expect(asked).toEqual(["pie"]);
});

it.each([
  ["says that it cannot be drawn", {}],
  ["is no object", "svg"],
  ["has no size", { svg: "<svg/>", width: NaN, height: 3 }],
  ["is too large", { svg: "x".repeat(2_000_001), width: 1, height: 1 }],
])("an answer that %s is no diagram", async (_, said) => {
  answer = () => said;
  expect(await draw("pie", false)).toBeNull();
});

it("a long text is not drawn", async () => {
  expect(await draw("x".repeat(10_001), false)).toBeNull();
  expect(asked).toEqual([]);
});

it("two diagrams that take too long end the drawing", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  answer = () => undefined;
  const got = [draw("one", false), draw("two", false), draw("three", false)];
  for (let i = 0; i < 3; i++) {
    await vi.advanceTimersByTimeAsync(20_000);
  }
  expect(await Promise.all(got)).toEqual([null, null, null]);
  expect(asked).toEqual(["one", "two"]);
});

it("a diagram does not move for a person who wants no motion", async () => {
  answer = () => ({ ...DRAWN, svg: "<svg><style>p{animation:dash 1s infinite}</style></svg>" });
  expect((await draw("flowchart", false))!.svg).toBe("<svg><style>p{animation:dash 1s infinite}</style><style>@media (prefers-reduced-motion:reduce){*{animation:none!important}}</style></svg>");
});
