/** Where the chat lies over the page, in px. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Size {
  width: number;
  height: number;
}

export const SIZE: Size = { width: 400, height: 500 };
const LEAST: Size = { width: 300, height: 320 };
const RIGHT = 24;
const BOTTOM = 80; // above the button
const EDGE = 8; // that stays free round it

/** Where it lies until a person moves it: above its button. */
export const startBox = (view: Size): Box => clamp({ x: view.width - RIGHT - SIZE.width, y: view.height - BOTTOM - SIZE.height, ...SIZE }, view);

const between = (n: number, least: number, most: number): number => Math.max(least, Math.min(n, Math.max(least, most)));

/** The box as it fits into the viewport: no larger than that, and nowhere outside of it. */
export function clamp(box: Box, view: Size): Box {
  const width = Math.min(between(box.width, LEAST.width, Infinity), view.width - 2 * EDGE);
  const height = Math.min(between(box.height, LEAST.height, Infinity), view.height - 2 * EDGE);
  return { x: between(box.x, EDGE, view.width - EDGE - width), y: between(box.y, EDGE, view.height - EDGE - height), width, height };
}

export const moved = (box: Box, dx: number, dy: number, view: Size): Box => clamp({ ...box, x: box.x + dx, y: box.y + dy }, view);

/** The box with its upper left corner elsewhere; the opposite one stays. */
export function resized(box: Box, dx: number, dy: number, view: Size): Box {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  const x = between(box.x + dx, EDGE, right - LEAST.width);
  const y = between(box.y + dy, EDGE, bottom - LEAST.height);
  return clamp({ x, y, width: right - x, height: bottom - y }, view);
}

/** A box that was kept; null when it is none. */
export function readBox(value: unknown): Box | null {
  if (typeof value !== "object" || value === null) return null;
  const { x, y, width, height } = value as Record<string, unknown>;
  const all = [x, y, width, height];
  return all.every((n) => typeof n === "number" && Number.isFinite(n)) ? ({ x, y, width, height } as Box) : null;
}

const STEP = 16;
const LEAP = 64;

/** How far an arrow key goes; null for another key. */
export function stepOf(key: string, far: boolean): [dx: number, dy: number] | null {
  const by = far ? LEAP : STEP;
  const steps: Readonly<Record<string, [number, number]>> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
  return steps[key] ?? null;
}
