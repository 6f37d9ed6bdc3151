import { describe, expect, it } from "vitest";
import { clamp, moved, readBox, resized, startBox, stepOf } from "./place";

const view = { width: 1280, height: 800 };
const start = startBox(view);

describe("the position of the chat", () => {
  it("starts 24 px from the right and 80 px from the bottom, 400 by 500", () => {
    expect(start).toEqual({ x: 1280 - 24 - 400, y: 800 - 80 - 500, width: 400, height: 500 });
  });

  it("stays inside of the viewport", () => {
    expect(moved(start, 5000, 5000, view)).toEqual({ ...start, x: 1280 - 8 - 400, y: 800 - 8 - 500 });
    expect(moved(start, -5000, -5000, view)).toEqual({ ...start, x: 8, y: 8 });
    expect(clamp(start, { width: 700, height: 400 })).toEqual({ x: 292, y: 8, width: 400, height: 384 });
    expect(clamp(start, { width: 200, height: 200 })).toEqual({ x: 8, y: 8, width: 184, height: 184 });
  });

  it("is resized at its upper left corner; the lower right corner stays", () => {
    expect(resized(start, -100, -50, view)).toEqual({ x: start.x - 100, y: start.y - 50, width: 500, height: 550 });
    const least = resized(start, 5000, 5000, view);
    expect([least.width, least.height, least.x + least.width, least.y + least.height]).toEqual([300, 320, start.x + 400, start.y + 500]);
    const most = resized(start, -5000, -5000, view);
    expect([most.x, most.y, most.x + most.width]).toEqual([8, 8, start.x + 400]);
  });

  it("is read from storage only if it is four numbers", () => {
    expect(readBox(JSON.parse(JSON.stringify(start)))).toEqual(start);
    for (const wrong of [null, 7, {}, { ...start, x: "1" }, { ...start, y: null }]) expect(readBox(wrong)).toBeNull();
  });

  it("moves with the arrow keys, further with Shift", () => {
    expect([stepOf("ArrowLeft", false), stepOf("ArrowDown", true), stepOf("a", false)]).toEqual([[-16, 0], [0, 64], null]);
  });
});
