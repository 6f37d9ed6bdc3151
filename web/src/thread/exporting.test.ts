// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { bodyOf, fileName, markdownOf } from "./exporting";
import type { Message } from "./types";

const you = (text: string): Message => ({ id: text, role: "user", parts: [{ type: "text", text }] });
const said = (text: string, ...more: Message["parts"]): Message => ({ id: text, role: "assistant", parts: [{ type: "text", text }, ...more] });
const cites = (n: number, title: string, quote: string) => ({ type: "source-document", sourceId: `s${n}`, mediaType: "text/plain", title, providerMetadata: { palaver: { n, quote } } }) as Message["parts"][number];

describe("a conversation as Markdown", () => {
  it("says who wrote what, and has own footnotes for each answer", () => {
    expect(markdownOf("Remote\nwork", [you("How many days?"), said("Three [1].", cites(1, "Policy", "three days\nper week")), you("And now?"), said("Two [1], not [2].", cites(1, "Rules", "two"))])).toBe(
      "# Remote work\n\n## You\n\nHow many days?\n\n## Palaver\n\nThree [^1-1].\n\n[^1-1]: Policy: “three days per week”\n\n## You\n\nAnd now?\n\n## Palaver\n\nTwo [^2-1], not [2].\n\n[^2-1]: Rules: “two”\n",
    );
  });

  it("has questions with their replies, and no line about the missing model", () => {
    const asked = { type: "data-interrupt", data: { interrupt_id: "i", interrupt_type: "choice", message: "Which one?", turn_id: "t", answered: true, answer: { type: "choice", value: "The\nfirst" } } } as Message["parts"][number];
    expect(bodyOf(said("So it is.\n\n_Offline engine: no language model is configured._"))).toBe("So it is.");
    expect(bodyOf({ id: "a", role: "assistant", parts: [asked, { type: "text", text: "Good." }] })).toBe("> Which one?\n> The\n> first\n\nGood.");
  });

  it("puts the headings of an answer below its speaker, and notes unverified words", () => {
    expect(markdownOf("A", [said("# One\n\n```sh\n# no heading\n```\n\n##### Two")])).toBe("# A\n\n## Palaver\n\n### One\n\n```sh\n# no heading\n```\n\n###### Two\n");
    expect(markdownOf("A", [{ ...said("It is so."), metadata: { unverified: ["is so"] } }])).toBe("# A\n\n## Palaver\n\nIt is so[^1-unverified].\n\n[^1-unverified]: Not found word for word in the passages\n");
  });

  it("leaves code as it is", () => {
    const code = "`a[1]` and\n\n```js\nb[1] = /[^a-z]/\n```\n\n- so:\n\n  ```\n  c[^1]\n  ```";
    expect(markdownOf("A", [said(`Three [1]: ${code}`, cites(1, "Policy", "three"))])).toBe(`# A\n\n## Palaver\n\nThree [^1-1]: ${code}\n\n[^1-1]: Policy: “three”\n`);
    expect(bodyOf(said("Only `a[1]`.", cites(1, "Policy", "three")))).toBe("Only `a[1]`.");
    expect(bodyOf(said("A ` here, and [1].\n\nAnother ` there.", cites(1, "P", "q")))).toContain("and [^1].");
  });

  it("leaves out empty messages", () => {
    expect(markdownOf("A", [{ id: "a", role: "assistant", parts: [] }])).toBe("# A\n");
  });
});

describe("the name of the file", () => {
  it.each([
    ["Remote work", "Remote work.md"],
    ["../a:b\u0000c ", ".. a b c.md"],
    ["???", "Palaver.md"],
    ["…".repeat(200), `${"…".repeat(80)}.md`],
  ])("of %j", (title, want) => expect(fileName(title)).toBe(want));
});
