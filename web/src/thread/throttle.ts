const LEAST_MS = 50; // looks smooth
const MOST_MS = 400;

/** Returns the pause until the next render after one that took some milliseconds: renders take at most about a third of the time. */
export function nextThrottle(pause: number, took: number): number {
  if (took * 2 > pause) pause *= 2;
  else if (took * 8 < pause) pause /= 2;
  return Math.min(MOST_MS, Math.max(LEAST_MS, pause));
}
