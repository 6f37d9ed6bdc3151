import { expect, it } from "vitest";
import { nextThrottle } from "./throttle";

it.each([
  ["begins with 50 ms", 0, 0, 50],
  ["stays while renders are fast", 50, 10, 50],
  ["doubles after a slow render", 50, 40, 100],
  ["stays while renders take their share", 100, 30, 100],
  ["is halved after a fast render", 200, 10, 100],
  ["has a limit", 400, 900, 400],
])("the pause between renders %s", (_, pause, took, next) => expect(nextThrottle(pause, took)).toBe(next));
