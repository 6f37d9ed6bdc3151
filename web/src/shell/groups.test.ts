import { expect, it } from "vitest";
import { byAge, since } from "./groups";

const now = new Date(2026, 10, 21, 9, 30);
const at = (id: string, ...when: [number, number, number, number]) => ({ id, title: id, created_at: "2020-01-01T00:00:00Z", last_message_at: new Date(...when).toISOString() });

it("groups conversations by their last activity, in the order of the list", () => {
  const items = [at("a", 2026, 10, 21, 9), at("b", 2026, 10, 21, 0), at("c", 2026, 10, 20, 23), at("d", 2026, 10, 15, 1), at("e", 2026, 10, 1, 1), at("f", 2026, 1, 1, 1)];
  const { last_message_at: _, ...never } = at("g", 2026, 1, 1, 1);
  expect(byAge([...items, never], now).map((g) => [g.name, ...g.items.map((c) => c.id)])).toEqual([
    ["Today", "a", "b"],
    ["Yesterday", "c"],
    ["Last 7 days", "d"],
    ["Last 30 days", "e"],
    ["Older", "f", "g"],
  ]);
});

it("abbreviates ages", () => {
  const ago = (ms: number) => since(new Date(now.getTime() - ms).toISOString(), now.getTime());
  expect([ago(0), ago(59_000), ago(5 * 60_000), ago(3 * 3_600_000)]).toEqual(["now", "now", "5 min", "3 h"]);
  expect(ago(5 * 24 * 3_600_000)).toMatch(/16/);
  expect([since(undefined), since("never")]).toEqual(["", ""]);
});
