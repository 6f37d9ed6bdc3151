import { describe, expect, it } from "vitest";
import { hasMath, markMath } from "./math";

const marked = (text: string) => markMath(text, false);

describe("mathematics in an answer", () => {
  it.each([
    ["\\(a_1 * b_1\\) and \\(c\\)", "$$a_1 * b_1$$ and $$c$$"],
    ["so $x^2$.", "so $$x^2$$."],
    ["so $$x^2$$ it is", "so $$x^2$$ it is"],
    ["\\[\nx = 1\n\\]", "\n\n$$\nx = 1\n$$\n\n"],
    ["Thus\n$$x = 1$$\nholds", "Thus\n\n\n$$\nx = 1\n$$\n\n\nholds"],
    ["$$\na\n\nb\n$$", "\n\n$$\na\nb\n$$\n\n"],
    ["1. So\n   \\[x\\]", "1. So\n   \n\n   $$\n   x\n   $$\n\n"],
  ])("is put between $$: %s", (text, want) => expect(marked(text)).toBe(want));

  it.each(["It costs $5 and $10.", "US$5-US$10", "$20K/$30K", "a $ b $ c", "\\$x^2$ is text", "`$x$` and ``\\(y\\)``", "```sh\necho $HOME $PATH\n$$\n```", "```\n$x$ unfinished"])("does not include text that only looks like it: %s", (text) => expect(marked(text)).toBe(text));

  it("is hidden while it is incomplete", () => {
    for (const half of ["so \\(x_1 + ", "so \\[\nx_1", "so $$x_1", "so $x_1 + "]) expect(markMath(half, true)).toBe("so ");
    expect(markMath("so $$a$$ and $$b", true)).toBe("so $$a$$ and ");
    expect(markMath("It costs $5 and", true)).toBe("It costs $5 and");
    expect(markMath("`$x", true)).toBe("`$x");
    expect(markMath("so \\(x_1 + ", false)).toBe("so \\(x_1 + ");
  });

  it("is detected", () => {
    expect(["no", "[1] and (2)", "$5 or $6", "`$x$`", "so $x$", "\\(x\\)", "\\[x\\]", "$$x$$"].map(hasMath)).toEqual([false, false, false, false, true, true, true, true]);
  });
});
