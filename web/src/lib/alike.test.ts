import { expect, it } from "vitest";
import { mostAlike } from "./alike";

it.each([
  ["two versions of one text", ["Email", "Work Policy 2025", "Contract", "Work policy 2024"], ["Work Policy 2025", "Work policy 2024"]],
  ["the earlier pair on a tie", ["a plan", "b plan", "c plan"], ["a plan", "b plan"]],
  ["nothing in common", ["Email", "Contract"], null],
  ["one alone", ["Email"], null],
  ["none", [], null],
])("%s", (_, names, want) => expect(mostAlike(names, (n) => n)).toEqual(want));
