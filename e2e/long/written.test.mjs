// An answer says what the model wrote, wherever it is read: in the page, its shares, copies,
// exports and print, and over each dialect.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, answers, ask, axe, desktop, newPage } from "../browser.mjs";
import { arrive, browser, leaveNoFaults, page, stack, useSlowModel } from "../suite.mjs";
import { addDocument, many } from "../thread.mjs";

const NOTES = "# Lighthouse notes\n\n## Winding the clock\n\nThe keeper winds the clock at seven.\n\n## Trimming the lamp\n\nThe keeper trims the lamp at nine. The keeper rests.\n";
const QUESTION = 'What do the Lighthouse notes say about "the oil of the old lamp"?';
const INVENTED = "the keeper must never sleep at any time of the day";
const CITED = "the lamp burns for ever and a day without any oil";
const BLOCK = "The keeper swims around the island every single morning";
const OWN = '"the oil of the old lamp"';
const WRITTEN = `Keep H~2~O, **“trims the lamp at nine”**[1], and rest[^1]. Press <kbd>Ctrl</kbd>, x<sup>2</sup>, H<sub>2</sub>O, <mark>marked</mark>, one<br>line.

**请准时提交。**请 and 这是**「時計」**的。

The notes say “${INVENTED}”. They say “${CITED}” [1]. You asked about ${OWN}. The file is called “Lighthouse notes”, a so-called "quiet place".

> ${BLOCK}.

<details><summary>More</summary>

Hidden words.

</details>

[^1]: A note with **bold** text.`;
const REASON = "Not found word for word in the passages";

useSlowModel([WRITTEN], 1);
leaveNoFaults();

/** Opens a chat with the answer. */
async function answered() {
  await arrive({ ...desktop, permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto("/");
  await addDocument(page, "Lighthouse notes", NOTES);
  await ask(page, QUESTION);
  await answer(page, 1);
}

/** Fails unless a page shows the answer as it was written. */
async function shows(at) {
  await at.locator("kbd", { hasText: "Ctrl" }).waitFor();
  for (const [tag, words] of [["sup", "2"], ["sub", "2"], ["mark", "marked"], ["strong", "请准时提交。"], ["strong", "「時計」"], ["strong", "“trims the lamp at nine”"], ["details", "Hidden words."], ["li strong", "bold"]]) await many(at.locator(".answer").locator(tag, { hasText: words }), 1);
  await many(at.locator(".answer del"), 0);
  await many(at.locator(".answer br"), 1);
  const marked = at.locator(".answer u", { hasText: INVENTED });
  assert.equal(await marked.getAttribute("title"), REASON);
  const text = (await at.locator(".answer").allInnerTexts()).join("\n");
  for (const words of ["H~2~O", `say ${INVENTED}.`, OWN, "“Lighthouse notes”", '"quiet place"']) assert.ok(text.includes(words), words);
  for (const words of [CITED, BLOCK, "**", "<kbd>", "[^1]", "[1]"]) assert.ok(!text.includes(words), words);
  await many(at.getByText("Unverified quote removed"), 2);
}

/** Fails unless a text, in Markdown or not, has the words as they were written. */
function says(text, where) {
  for (const words of ["H~2~O", `say ${INVENTED}`, OWN, "“Lighthouse notes”", '"quiet place"', "请准时提交。"]) assert.ok(text.includes(words), `${where} lacks ${words}: ${text}`);
  for (const words of [`“${INVENTED}`, CITED, BLOCK]) assert.ok(!text.includes(words), `${where} has ${words}: ${text}`);
}

describe("an answer says what the model wrote", () => {
  it("in the page, in a shared copy and in print", async () => {
    await answered();
    await shows(page);
    assert.deepEqual(await axe(page), []);
    const id = page.url().split("/").at(-1);
    const { path } = await (await page.request.post(`/api/conversations/${id}/shares`, { data: {} })).json();
    const other = await newPage(browser, stack.url);
    await other.page.goto(path);
    await shows(other.page);
    assert.deepEqual(await axe(other.page), []);
    await other.context.close();
    await page.goto(`/print/${id}`);
    await shows(page);
    assert.deepEqual(await axe(page), []);
    await page.emulateMedia({ media: "print" });
    const reason = await page.locator(".answer u").first().evaluate((u) => getComputedStyle(u, "::after").content);
    assert.ok(reason.includes(REASON), `paper has no tooltip: ${reason}`);
  });

  it("in a copy, as plain text and as HTML, and in the exported file", async () => {
    await answered();
    await answers(page).getByRole("button", { name: "Copy answer" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const [plain, html] = await page.evaluate(async () => {
      const [item] = await navigator.clipboard.read();
      return Promise.all(["text/plain", "text/html"].map(async (type) => (await item.getType(type)).text()));
    });
    says(plain, "the copy");
    assert.match(plain, /never sleep at any time of the day\[\^unverified\][^]*\n\[\^unverified\]: Not found word for word/);
    says(html.replace(/<[^>]+>/g, ""), "the HTML");
    for (const part of ["<kbd>Ctrl</kbd>", "<sup>2</sup>", "<mark>marked</mark>", "<strong>「時計」</strong>", `<u>${INVENTED}</u>`, REASON]) assert.ok(html.includes(part), `${part}: ${html}`);
    await page.getByRole("button", { name: /^Options for/ }).first().click();
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Export as Markdown" }).click()]);
    let file = "";
    for await (const piece of await download.createReadStream()) file += piece;
    says(file, "the file");
    assert.match(file, /\[\^1-unverified\]: Not found word for word/);
  });

  describe("over each dialect", () => {
    const events = (raw) => raw.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)));
    const messages = [{ id: "m1", role: "user", content: QUESTION }];
    const ways = {
      native: [{ path: "/api/chat", body: { agent: "documents", message: QUESTION } }, (raw) => ({ text: events(raw).at(-1).response, unverified: events(raw).at(-1).unverified })],
      "agent v2": [{ path: "/api/agent/v2/stream", body: { agent: "documents", message: QUESTION, client_turn_id: "c", stream_run_id: "r" } }, (raw) => ({ text: events(raw).map((e) => (e.type === "text" ? e.content : "")).join(""), unverified: events(raw).at(-1).unverified })],
      "AI SDK": [{ path: "/api/ui/chat", body: { message: { id: "m1", role: "user", parts: [{ type: "text", text: QUESTION }] } } }, (raw) => ({ text: events(raw).map((e) => e.delta ?? "").join(""), unverified: events(raw).findLast((e) => e.messageMetadata?.unverified)?.messageMetadata.unverified })],
      "AG-UI": [{ path: "/api/agui", body: { threadId: crypto.randomUUID(), runId: "r", messages, forwardedProps: { palaver: { agent: "documents" } } } }, (raw) => ({ text: events(raw).map((e) => (e.type === "TEXT_MESSAGE_CONTENT" ? e.delta : "")).join(""), unverified: events(raw).findLast((e) => e.snapshot?.palaver?.unverified)?.snapshot.palaver.unverified })],
      OpenAI: [{ path: "/v1/chat/completions", body: { model: "palaver-documents", messages: [{ role: "user", content: QUESTION }] } }, (raw) => ({ text: JSON.parse(raw).choices[0].message.content })],
      MCP: [{ path: "/mcp/rpc", body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask", arguments: { message: QUESTION } } } }, (raw) => ({ text: JSON.parse(raw).result.content[0].text })],
      LangGraph: [{ path: "/api/v1/chat/stream", body: { agent: "documents", message: { role: "human", content: QUESTION } } }, (raw) => ({ text: events(raw).map((e) => (e.type === "token" ? e.content : "")).join("") })],
    };
    for (const [name, [{ path, body }, read]] of Object.entries(ways)) {
      it(name, async () => {
        await arrive();
        await page.goto("/");
        await addDocument(page, "Lighthouse notes", NOTES);
        const got = await page.request.post(path, { data: body });
        const raw = await got.text();
        assert.ok(got.ok(), raw);
        const { text, unverified } = read(raw);
        says(text, name);
        if (unverified) assert.deepEqual(unverified, [INVENTED]);
        else assert.ok(["OpenAI", "MCP", "LangGraph"].includes(name), `${name} names no unverified words`);
      });
    }
  });
});
