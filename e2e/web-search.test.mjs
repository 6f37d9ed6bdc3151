// Answers from the web: Palaver offers a web search when the documents have little, or a
// mention requests one. Citations of pages open in a new tab.
import assert from "node:assert/strict";
import { after, afterEach, beforeEach, describe, it } from "node:test";
import { answer, ask, assist, composer, mention, shot } from "./browser.mjs";
import { arrive, context, leaveNoFaults, model, page, useSlowModel } from "./suite.mjs";
import { conversation, history, many, progress, watchProgress, writing } from "./thread.mjs";
import { startWebSearch } from "./web-search.mjs";

const PAGES = [
  { title: "Quasar Weekly", url: "https://quasar.example/xylophone", content: "The zebra quasar xylophone was tuned in 1923 by the harbour choir." },
  { title: "Xylophone Museum", url: "https://museum.example/zebra", content: "A zebra quasar xylophone has 44 bars of rosewood." },
];
const QUESTION = "zebra quasar xylophone?";
const PIECES = ["The zebra quasar xylophone ", "was tuned in 1923 ", "[1]."];

let search;
useSlowModel(PIECES, 5, async () => {
  search = await startWebSearch(PAGES);
  return search.settings;
});
after(() => search?.stop());

beforeEach(async () => {
  model.hold = Infinity;
  await arrive();
  await watchProgress(page);
  await context.route(/^https:\/\/(quasar|museum)\.example\//, (route) => route.fulfill({ contentType: "text/html", body: "<title>A page of the web</title>" }));
  await page.goto("/");
});

afterEach(async () => {
  search.queries.length = 0;
});
leaveNoFaults();

describe("a web search", () => {
  it("when little is found: Search the web continues the turn, shows the query, and the answer cites the pages", async () => {
    model.hold = 0;
    await ask(page, QUESTION);
    await assist(page).getByRole("button", { name: "Search the web", exact: true }).click();
    await assist(page).waitFor({ state: "detached" });
    await progress(page).getByText("Searching online").waitFor(); // text would clear queued statuses
    model.hold = 1;
    await writing(page).getByText(PIECES[0].trim()).waitFor();
    await conversation(page).getByText("“zebra quasar xylophone”", { exact: true }).waitFor();
    await shot(page, "63-searching-online");
    model.hold = Infinity;
    const got = await answer(page, 1);
    await many(conversation(page).getByText("“zebra quasar xylophone”", { exact: true }), 0);
    await progress(page).getByText(/./).waitFor({ state: "detached" });
    const lines = (await page.evaluate(() => window.progress)).map(([words]) => words);
    assert.ok(lines.includes('Searching online "zebra quasar xylophone"'), lines.join(" | "));
    assert.deepEqual(search.queries, ["zebra quasar xylophone"]);
    await got.getByRole("list", { name: "Sources" }).getByRole("link", { name: /Quasar Weekly/ }).waitFor();
    await shot(page, "64-web-answer");

    const chip = got.getByRole("link", { name: /^Citation \d: Quasar Weekly, quasar\.example \(opens in a new tab\)$/ }).first();
    assert.match(await chip.textContent(), /^\d$/);
    const here = page.url();
    const [tab] = await Promise.all([context.waitForEvent("page"), chip.click()]);
    await tab.waitForURL(PAGES[0].url);
    assert.equal(await tab.evaluate(() => window.opener), null, "the page has no reference to the tab that opened it");
    assert.equal(page.url(), here);
    await tab.close();

    await page.reload();
    await (await answer(page, 1)).getByRole("link", { name: /^Citation \d: Quasar Weekly/ }).first().waitFor();
    const { messages } = await history(page);
    assert.ok(messages.at(-1).metadata.citations.some((c) => c.source === "web" && c.url === PAGES[0].url));
  });

  it("is requested with a mention", async () => {
    const sent = [];
    page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat" && sent.push(r.postDataJSON()));
    await mention(page, "Web search");
    await composer(page).pressSequentially(QUESTION);
    await composer(page).press("Enter");
    await (await answer(page, 1)).getByRole("link", { name: /^Citation \d: / }).first().waitFor();
    assert.deepEqual(sent.map((b) => b.enable_web_search), [true]);
  });
});
