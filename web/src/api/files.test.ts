import { expect, it } from "vitest";
import { nameIn } from "./files";

it.each([
  ['attachment; filename="palaver-2026-11-23.zip"', "palaver-2026-11-23.zip"],
  ["attachment; filename=notes.md", "notes.md"],
  ["attachment; filename=\"x.pdf\"; filename*=UTF-8''Gr%C3%BC%C3%9Fe.pdf", "Grüße.pdf"],
  ["attachment; filename=\"x.pdf\"; filename*=UTF-8''%E0%A4%A.pdf", "x.pdf"],
  ["inline", undefined],
  [null, undefined],
])("the name in %s is %s", (header, name) => expect(nameIn(header)).toBe(name));
