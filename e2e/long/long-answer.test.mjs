// How answers are shown: a long one from its beginning, code in colours, formulas, and
// follow-up questions.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, axe, composer, dark, desktop, expectBlocked, phone, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, model, page, useSecondStack, useSlowModel } from "../suite.mjs";
import { addDocument, assertSoon, conversation, many, startWithTools, writing } from "../thread.mjs";

const NOTES = "# Lighthouse notes\n\n## Winding the clock\n\nThe keeper winds the clock at seven in the evening.\n\n## Trimming the lamp\n\nThe keeper trims the lamp at nine.\n\n## Painting the tower\n\nThe tower is painted in May.\n";
const LINES = Array.from({ length: 60 }, (_, i) => `Line ${i} of an answer.\n\n`);

useSlowModel(LINES, 4);
leaveNoFaults();

/** Starts a conversation with the assistant, and asks there. */
async function begin(look, pieces, hold, text) {
  Object.assign(model, { pieces: ["Yes."], hold: Infinity });
  await arrive(look);
  await page.goto("/");
  await startWithTools(page, "Are you there?");
  await answer(page, 1);
  Object.assign(model, { pieces, hold });
  await ask(page, text);
}

const left = () => conversation(page).evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
const inView = (locator) => locator.evaluate((el) => {
  const { top, bottom } = el.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
});

describe("a long answer", () => {
  for (const [name, look] of Object.entries({ desktop, phone })) {
    it(`shows its beginning when it is complete, and the way to its end: ${name}`, async () => {
      await begin(look, LINES, Infinity, "Tell me all");
      const first = await answer(page, 2);
      await first.getByText("Line 59 of").waitFor({ state: "attached" });
      assert.ok(await inView(first.getByText("Line 0 of")), "the beginning is in view");
      assert.ok((await left()) > 300, "the end is not");
      await shot(page, `180-long-answer-${name}`);
      await page.getByRole("button", { name: "Jump to latest" }).click();
      await assertSoon(async () => (await left()) < 2, "the end is shown");
      await ask(page, "Tell me more");
      const second = await answer(page, 3);
      await second.getByText("Line 59 of").waitFor({ state: "attached" });
      assert.ok(await inView(second.getByText("Line 0 of")), "the beginning of the second is in view");
    });
  }

  it("stays scrolled to its end for a reader who jumped to the end", async () => {
    await begin(desktop, LINES, 40, "Tell me all");
    await writing(page).getByText("Line 39 of").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Jump to latest" }).click();
    model.hold = Infinity;
    await answer(page, 2);
    await assertSoon(async () => (await left()) < 2, "the end is shown");
  });
});

describe("code and formulas", () => {
  const RICH = ["Take the mass \\(m_1 * m_2\\) and", " write it to `$HOME` for $5 or $6.\n\n\\[\nE = mc^2", " + \\frac{a}{b}\n\\]\n\n```js\nconst answer = ", '"six [1]"; // not seven\n```\n\nAll of it.'];

  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`are formatted when they are complete: ${name}`, async () => {
      await begin(look, RICH, 3, "How much is it?");
      await writing(page).locator(".katex").first().waitFor();
      await writing(page).getByText("const answer").waitFor();
      await many(writing(page).locator(".hljs-keyword"), 0);
      model.hold = Infinity;
      const got = await answer(page, 2);
      await got.locator(".hljs-keyword", { hasText: "const" }).waitFor();
      await many(got.locator(".katex"), 2);
      await many(got.locator(".katex-display"), 1);
      await got.getByText("for $5 or $6.").waitFor();
      assert.equal(await got.locator("pre").innerText(), 'const answer = "six [1]"; // not seven\n');
      await shot(page, `181-code-and-formulas-${name}`);
      assert.deepEqual(await axe(page), []);
    });
  }

  it("that are not valid are shown as they were written", async () => {
    await begin(desktop, ["So \\(\\frac{a\\) and\n\n```nolanguage\nx = 1\n```\n"], Infinity, "How much is it?");
    const got = await answer(page, 2);
    await got.locator(".formula", { hasText: "\\frac{a" }).waitFor();
    await got.getByText("x = 1").waitFor();
  });
});

describe("diagrams", () => {
  const FLOW = "```mermaid\nflowchart LR\n  A[\"Request <img src=x onerror=alert(1)>\"] --> B{Valid?}\n  B -->|yes| C[Store it]\n```";
  const picture = (on) => on.getByRole("group", { name: "Diagram" }).getByRole("img");

  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`are drawn when they are complete, and shown as code on request: ${name}`, async () => {
      await begin(look, ["Like this:\n\n", FLOW, "\n\nThis is none:\n\n```mermaid\nflowchart LR\n  A[[ -->\n```\n"], Infinity, "How does it work?");
      expectBlocked(faults); // in the frame, before Mermaid removes it
      const got = await answer(page, 2);
      await picture(got).waitFor();
      assert.ok(await picture(got).evaluate((el) => el.complete && el.naturalWidth > 100), "the picture is valid");
      await many(got.getByRole("img"), 1); // nothing of its text is HTML
      await many(got.getByRole("group", { name: "Code" }), 1); // what is no diagram stays code
      assert.deepEqual(await axe(page), []);
      await shot(page, `183-diagram-${name}`);
      await got.getByRole("button", { name: "Show code" }).click();
      await got.getByText("flowchart LR").first().waitFor();
      await got.getByRole("button", { name: "Show diagram" }).click();
      await picture(got).waitFor();
    });
  }
});

describe("follow-up questions", () => {
  beforeEach(() => {
    model.pieces = ["The keeper winds the clock at seven in the evening [1]."];
    model.hold = Infinity;
  });
  const suggested = () => page.getByRole("region", { name: "Follow-up questions" });

  for (const [name, look] of Object.entries({ desktop, dark, phone })) {
    it(`are shown under an answer, and are asked with one press: ${name}`, async () => {
      await arrive(look);
      await page.goto("/");
      await addDocument(page, "Lighthouse notes", NOTES);
      await page.reload();
      await ask(page, "When does the keeper wind the clock in Lighthouse notes?");
      await answer(page, 1);
      const next = suggested().getByRole("button", { name: "What about “Trimming the lamp”?" });
      await next.waitFor();
      await many(suggested().getByRole("button"), 3);
      await shot(page, `182-follow-ups-${name}`);
      assert.deepEqual(await axe(page), []);
      await next.click();
      await answers(page).nth(1).waitFor();
      await suggested().getByRole("button", { name: "What about “Painting the tower”?" }).waitFor();
      await many(suggested(), 1);
      await many(suggested().getByRole("button", { name: "What about “Trimming the lamp”?" }), 0);
    });
  }
});

describe("follow-up questions that are switched off", () => {
  const quiet = useSecondStack(["The keeper winds the clock at seven in the evening [1]."], 1, { FOLLOW_UPS: "off" });
  it("are not shown", async () => {
    await arrive(desktop, quiet.stack.url);
    await page.goto("/");
    await addDocument(page, "Lighthouse notes", NOTES);
    await page.reload();
    await ask(page, "When does the keeper wind the clock in Lighthouse notes?");
    const got = await answer(page, 1);
    await got.getByRole("button", { name: /^Lighthouse notes/ }).waitFor();
    await composer(page).fill("later");
    await many(page.getByRole("region", { name: "Follow-up questions" }), 0);
  });
});
