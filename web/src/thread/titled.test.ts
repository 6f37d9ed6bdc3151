import { expect, test } from "vitest";
import type { Doc } from "../api/types";
import { byName, listsDocuments } from "./titled";

const doc = (id: string, title: string, label?: string) => ({ id, title, ...(label && { label }) }) as Doc;

test("a name in an answer finds its document, as plain Markdown writes it", () => {
  const find = byName([doc("1", "Lease [Bremen]"), doc("2", "budget_2026"), doc("3", "Notes", "Notes (May)"), doc("4", "Notes", "Notes (June)"), doc("5", "Q2")]);
  expect(find("Lease (Bremen)")).toEqual({ id: "1", title: "Lease [Bremen]" });
  expect(find("budget 2026")?.id).toBe("2");
  expect(find("Notes (June)")?.id).toBe("4");
  expect(find("Notes"), "two have this title").toBeUndefined();
  expect(find("Q2"), "too short").toBeUndefined();
  expect(find("Total")).toBeUndefined();
  expect(find("—")).toBeUndefined();
});

test("an answer lists documents if items of a list begin with their names", () => {
  const find = byName([doc("1", "Lease Bremen")]);
  expect(listsDocuments("There is 1 document:\n\n- **Lease Bremen** (pdf)", find)).toBe(true);
  expect(listsDocuments("**Lease Bremen** says nothing.", find)).toBe(false);
  expect(listsDocuments("- **Rent**: due", find)).toBe(false);
});
