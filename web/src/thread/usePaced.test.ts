import { expect, it } from "vitest";
import { nextPace, START, type Pace } from "./usePaced";

/** Plays lists with arrival times and records what is shown when. */
function play(arrivals: [at: number, items: (string | undefined)[]][], until: number): [number, string | undefined][] {
  let pace: Pace<string | undefined> = START;
  const seen: [number, string | undefined][] = [];
  for (let now = 0; now <= until; now += 10) {
    const items = arrivals.findLast(([at]) => at <= now)?.[1] ?? pace.items;
    for (let next = nextPace(pace, items, now, 300); next && next.wait === 0; next = nextPace(pace, items, now, 300)) {
      pace = next.pace;
      if (seen.at(-1)?.[1] !== pace.items[pace.at]) seen.push([now, pace.items[pace.at]]);
    }
  }
  return seen;
}

it("statuses that arrive together are each shown for 300 ms", () => expect(play([[0, ["a"]], [10, ["a", "b", "c"]]], 1500)).toEqual([[0, "a"], [300, "b"], [600, "c"]]));
it("a status that arrives later is shown at once", () => expect(play([[0, ["a"]], [700, ["a", "b"]]], 1500)).toEqual([[0, "a"], [700, "b"]]));
it("the end of a turn drops queued statuses after the current one was shown long enough", () =>
  expect(play([[0, ["a", "b", "c"]], [100, []]], 1500)).toEqual([[0, "a"], [300, undefined]]));
it("text that has begun drops queued statuses after the current one was shown long enough", () => {
  expect(play([[0, ["a", "b", "c"]], [100, ["a", "b", "c", undefined]]], 1500)).toEqual([[0, "a"], [300, undefined]]);
  expect(play([[0, ["a"]], [100, ["a", "b", undefined]], [900, ["a", "b", undefined, "d", "e"]]], 2000)).toEqual([[0, "a"], [300, undefined], [900, "d"], [1200, "e"]]);
});
it("a status whose text changes is updated at once", () => expect(play([[0, ["a"]], [50, ["a2"]]], 500)).toEqual([[0, "a"], [50, "a2"]]));
