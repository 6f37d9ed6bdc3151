// What is on paper: nothing is cut, folded or light on white.
import assert from "node:assert/strict";
import { it } from "node:test";
import { answer, answers, ask, dark, phone, shot } from "../browser.mjs";
import { arrive, leaveNoFaults, page, useSlowModel } from "../suite.mjs";

leaveNoFaults();

const LONG = `const veryLong = ${"argument + ".repeat(40)}1;`;
const TABLE = `| What | 2024 | ${"a wide column | ".repeat(8)}\n|---|---|${"---|".repeat(8)}\n| Rent | 1,200 | ${"words of a wide column | ".repeat(8)}\n| Fee | 80 | ${"words | ".repeat(8)}`;
useSlowModel([`All of it[^1]:\n\n\`\`\`js\n${LONG}\n\`\`\`\n\n${TABLE}\n\n<details>\n<summary>More</summary>\n\nWhat is folded.\n\n</details>\n\n[^1]: A note.\n`], 1);

for (const [name, look] of Object.entries({ desktop: dark, phone: { ...phone, colorScheme: "dark" } })) {
  it(`a dark page with code, a wide table and folded words is printed whole: ${name}`, async () => {
    await arrive(look);
    await page.goto("/");
    await page.evaluate(() => localStorage.setItem("palaver.theme", "dark"));
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    const number = answers(page).locator("td", { hasText: "1,200" });
    assert.deepEqual(await number.evaluate((el) => [getComputedStyle(el).textAlign, getComputedStyle(el).fontVariantNumeric]), ["right", "tabular-nums"]);
    assert.equal(await answers(page).locator("th", { hasText: "2024" }).evaluate((el) => getComputedStyle(el).textAlign), "right");
    await page.goto(page.url().replace("/chat/", "/print/"));
    await page.getByText("What is folded.").waitFor({ state: "attached" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), "rgb(32, 36, 42)", "it looks like paper, also for diagrams");
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await page.getByText("What is folded.").waitFor();
    await shot(page, `400-paper-${name}`);
    const paper = await page.evaluate(() => ({
      ink: getComputedStyle(document.body).color,
      cut: [...document.querySelectorAll("pre, .table-scroll")].filter((el) => getComputedStyle(el).overflowX !== "visible" && el.scrollWidth > el.clientWidth + 1).map((el) => el.className),
      controls: [...document.querySelectorAll("button")].filter((b) => b.checkVisibility()).map((b) => b.getAttribute("aria-label") ?? b.textContent),
      back: [...document.querySelectorAll(".footnotes a")].filter((a) => a.checkVisibility()).length,
    }));
    assert.deepEqual(paper, { ink: "rgb(32, 36, 42)", cut: [], controls: [], back: 0 });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.getByText("What is folded.").waitFor({ state: "hidden" });
  });
}
