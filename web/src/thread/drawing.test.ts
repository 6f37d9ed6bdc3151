import { expect, it } from "vitest";
import { drawingOf } from "./drawing";
import type { ToolPart } from "./parts";

const part = (input: unknown, output?: unknown) => ({ type: "tool-generate_image", toolCallId: "c", state: output === undefined ? "input-available" : "output-available", input, output }) as ToolPart;

it.each<[unknown, number, number]>([
  [{ prompt: "a cat", size: "1536x1024" }, 1536, 1024],
  [{ prompt: "a cat" }, 1024, 1024],
  [{ prompt: "a cat", size: "auto" }, 1024, 1024],
  [{ prompt: "a cat", size: "0x10" }, 1024, 1024],
  [{ prompt: "a cat", size: 7 }, 1024, 1024],
])("a drawing of %j has its shape", (input, width, height) => expect(drawingOf(part(input))).toEqual({ prompt: "a cat", width, height }));

it("a drawing without arguments has none", () => expect(drawingOf(part(undefined)).prompt).toBe(""));

it("a picture is shown only if it is the server's own", () => {
  const of = (url: string) => drawingOf(part({ prompt: "a cat" }, `The picture is ready:\n![a cat](${url})`)).url;
  expect(of("/api/attachments/11111111-1111-4111-8111-111111111111")).toBe("/api/attachments/11111111-1111-4111-8111-111111111111");
  for (const url of ["https://example.com/a.png", "/api/attachments/../me", "//example.com/api/attachments/a", "javascript:alert(1)"]) expect(of(url)).toBeUndefined();
});
