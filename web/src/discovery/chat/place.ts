/** The position and size of the chat panel in the viewport, in px. */
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
const EDGE = 8; // minimum distance from the edges of the viewport

/** The position until the user moves it: above its button. */
export const startBox = (view: Size): Box => clamp({ x: view.width - RIGHT - SIZE.width, y: view.height - BOTTOM - SIZE.height, ...SIZE }, view);

const between = (n: number, least: number, most: number): number => Math.max(least, Math.min(n, Math.max(least, most)));

/** Moves and shrinks the box so that it fits into the viewport. */
export function clamp(box: Box, view: Size): Box {
  const width = Math.min(between(box.width, LEAST.width, Infinity), view.width - 2 * EDGE);
  const height = Math.min(between(box.height, LEAST.height, Infinity), view.height - 2 * EDGE);
  return { x: between(box.x, EDGE, view.width - EDGE - width), y: between(box.y, EDGE, view.height - EDGE - height), width, height };
}

export const moved = (box: Box, dx: number, dy: number, view: Size): Box => clamp({ ...box, x: box.x + dx, y: box.y + dy }, view);

/** Moves the upper left corner of the box; the lower right corner stays. */
export function resized(box: Box, dx: number, dy: number, view: Size): Box {
  const right = box.x + box.width;
  const bottom = box.y + box.height;
  const x = between(box.x + dx, EDGE, right - LEAST.width);
  const y = between(box.y + dy, EDGE, bottom - LEAST.height);
  return clamp({ x, y, width: right - x, height: bottom - y }, view);
}

/** Parses a stored box; null if it is invalid. */
export function readBox(value: unknown): Box | null {
  if (typeof value !== "object" || value === null) return null;
  const { x, y, width, height } = value as Record<string, unknown>;
  const all = [x, y, width, height];
  return all.every((n) => typeof n === "number" && Number.isFinite(n)) ? ({ x, y, width, height } as Box) : null;
}

const STEP = 16;
const LEAP = 64;

/** How far an arrow key moves the box, in px; null for another key. */
export function stepOf(key: string, far: boolean): [dx: number, dy: number] | null {
  const by = far ? LEAP : STEP;
  const steps: Readonly<Record<string, [number, number]>> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
  return steps[key] ?? null;
}
