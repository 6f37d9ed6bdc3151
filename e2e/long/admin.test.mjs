// The page of administrators, with people of a real OpenID Connect provider.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { answer, ask, desktop, expectRefusal } from "../browser.mjs";
import { mcpSettings, startMCPServer } from "../mcp-server.mjs";
import { startOIDC } from "../oidc.mjs";
import { freePort } from "../stack.mjs";
import { arrive, context, faults, leaveNoFaults, page, stack, useSlowModel } from "../suite.mjs";
import { assertSoon } from "../thread.mjs";

const ANSWER = "The plan is submitted in March.";
const PRICE = { in: 100, out: 50 }; // dollars for a million tokens
const tool = { name: "find", description: "Finds something", inputSchema: { type: "object" } };

let oidc, crm;
useSlowModel([ANSWER], 1, async () => {
  crm = await startMCPServer([tool, tool, { ...tool, name: "" }], () => "");
  oidc = await startOIDC(`http://127.0.0.1:${await freePort()}`);
  return { ...oidc.settings, ...mcpSettings("crm", crm), ADMIN_GROUPS: "deputies,admins", LLM_PRICES: JSON.stringify({ slow: PRICE }), DAILY_TOKENS: "90000", MAX_STREAMS_PER_CALLER: "17" };
});
after(() => Promise.all([oidc?.stop(), crm?.stop()]));

async function signIn(login, groups, look = desktop) {
  Object.assign(oidc, { login, groups });
  await arrive(look);
  const keep = faults.push.bind(faults); // going to the provider is a request to another host, and meant
  Object.defineProperty(faults, "push", { value: (fault) => (fault.includes(oidc.url) ? faults.length : keep(fault)), configurable: true });
  await page.goto("/");
  const list = page.getByRole("button", { name: "Chats", exact: true });
  if (look.viewport.width < 768) await list.click();
  await page.getByRole("button", { name: "Sign in", exact: true }).first().click();
  await page.getByRole("button", { name: /^Continue with 127\.0\.0\.1/ }).click();
  await page.getByRole("link", { name: "Allow" }).click();
  await page.waitForURL(`${stack.url}/**`);
  await page.waitForFunction(() => localStorage.getItem("palaver.session"));
}

const heading = (name) => page.getByRole("heading", { level: 2, name, exact: true });
const section = async (name) => {
  await page.getByRole("navigation", { name: "Administration" }).getByRole("button", { name, exact: true }).press("Enter");
  await heading(name).waitFor();
};
const table = (name) => page.getByRole("region", { name, exact: true });
/** The rows of a table, as lists of texts. */
const rows = async (name) => {
  await section(name);
  await table(name).waitFor();
  return table(name).locator("tbody tr").evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.innerText.trim())));
};
/** Reads the API as somebody, without a browser. */
async function as(login, groups) {
  Object.assign(oidc, { login, groups });
  const headers = { Authorization: `Bearer ${await oidc.token()}` };
  return async (path, init = {}) => (await fetch(stack.url + path, { ...init, headers })).json();
}

describe("the page of administrators", () => {
  leaveNoFaults();

  it("is refused to everybody else, who are not offered it", async () => {
    await signIn("ann", ["staff", "administrators"]);
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Usage" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Administration" }).count(), 0);
    expectRefusal(faults, 403);
    await page.goto("/admin");
    await page.getByRole("alert").getByText("Only administrators can see this.").waitFor();
  });

  it("shows what there is: people, usage, limits, feedback that was shared, failures, tools, health and every look, by the keyboard", async () => {
    const bea = await as("bea", ["staff"]);
    const { id } = await bea("/api/me");
    const form = new FormData();
    form.append("file", new Blob(["%PDF-1.7 and nothing else"]), "Secret plan.pdf");
    const broken = await bea("/api/documents", { method: "POST", body: form });
    await assertSoon(async () => (await bea(`/api/documents/${broken.id}`)).status === "failed", "the document has failed");

    await signIn("bea", ["staff"]);
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    await page.getByRole("button", { name: "Good answer" }).click();
    await page.getByRole("checkbox", { name: "Let administrators read this question and answer" }).check();
    await page.getByRole("article").getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Thank you for your feedback.").first().waitFor();

    const cleo = await as("cleo", ["admins"]);
    const boss = (await cleo("/api/me")).id;
    // Who was seen, and what models cost, are written in the background.
    await assertSoon(async () => (await cleo("/api/admin/people")).items.some((p) => p.id === id && p.tokens_today > 0), "bea is listed with her usage");
    await assertSoon(async () => (await cleo("/api/admin/usage")).items.some((u) => u.model === "slow" && u.calls >= 3), "the usage of what is meant, which documents are meant and the answer is listed");
    await assertSoon(async () => (await cleo("/api/admin/tools")).items.length > 0, "the tools are listed");

    await signIn("cleo", ["admins"]);
    await page.getByRole("button", { name: "Your account" }).click();
    const opened = context.waitForEvent("page");
    await page.getByRole("menuitem", { name: "Administration" }).click();
    await (await opened).close();
    await page.goto("/admin");
    await table("People").waitFor();

    const today = await page.evaluate(() => new Date().toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" }));
    const [[day, model, calls, into, out, cost], ...otherUsage] = await rows("Usage");
    assert.deepEqual([day, model, otherUsage], [today, "slow", []]);
    assert.ok(calls >= 1, calls);
    assert.deepEqual([into, out], [100 * calls, 40 * calls].map(String), "the model reports 100 and 40 tokens a call");
    const dollars = (calls * (100 * PRICE.in + 40 * PRICE.out)) / 1e6;
    assert.equal(Number(cost.replace("$", "")).toFixed(2), dollars.toFixed(2));

    const people = await rows("People");
    const [name, last, chats, documents, stored, tokens, spent] = people.find(([who]) => who.startsWith("bea@example.com"));
    assert.equal(name, `bea@example.com\n${id}`);
    assert.deepEqual([last, chats, documents, tokens, spent], [today, "1", "1", String(140 * calls), cost]);
    assert.match(stored, /^[1-9][\d.]* (B|kB)$/);
    assert.ok(people.some(([who]) => who === `cleo@example.com\n${boss}`));

    const limits = await rows("Limits");
    assert.ok(limits.some((row) => String(row) === "Open streams,person,17"), limits.join("\n"));
    assert.ok(limits.some((row) => row.join(" ") === "Tokens a day person 90,000"), limits.join("\n"));

    const [[, rating, , , owner], ...moreFeedback] = await rows("Feedback");
    assert.deepEqual([rating, owner, moreFeedback], ["Good", id, []]);
    await page.getByText("Question and answer").last().press("Enter");
    await page.getByText("When is the capital plan submitted?").waitFor();
    await table("Feedback").getByText(ANSWER).waitFor();

    const [[, reason, format, size, failedOf], ...moreFailed] = await rows("Failed documents");
    assert.deepEqual([format, size, failedOf, moreFailed], ["pdf", "25 B", id, []]);
    assert.equal(reason, "This PDF is damaged and can't be read.");

    assert.deepEqual(await rows("Tool servers"), [["crm", "ok", "1", "find · another tool has the same name · not offered\nit has no name · not offered"]]);

    const parts = await rows("Versions and health");
    assert.ok(parts.some((row) => String(row) === "database,ok"), parts.join("\n"));
    await page.getByText("The server answers messages.").waitFor();
    await page.getByText(/^Palaver \S+, commit \S+, /).waitFor();

    await section("Audit log");
    await assertSoon(async () => {
      await page.getByRole("button", { name: "Refresh" }).press("Enter");
      return (await table("Audit log").getByText("/api/admin/audit").count()) > 0;
    }, "the look at the audit log is in it");
    const looks = (await rows("Audit log")).filter(([, kind, who]) => kind === "admin_read" && who === boss);
    for (const part of ["people", "usage", "limits", "audit", "feedback", "documents", "tools", "status"]) {
      assert.ok(looks.some(([, , , , address, times, detail]) => address && times === "1" && JSON.parse(detail).route === `/api/admin/${part}`), part);
    }
    assert.ok(!(await page.locator("main").innerText()).includes("Secret plan"));
    await page.reload(); // the section stays
    await heading("Audit log").waitFor();
  });

  for (const colorScheme of ["light", "dark"]) {
    it(`fits a phone, ${colorScheme}`, async () => {
      await signIn("cleo", ["deputies"], { viewport: { width: 375, height: 700 }, colorScheme });
      await page.goto("/admin");
      await table("People").waitFor();
      await page.emulateMedia({ colorScheme: null }); // the provider's page, of another process, may have ended it
      await page.emulateMedia({ colorScheme });
      for (const name of ["Audit log", "Limits", "Versions and health"]) {
        await section(name);
        await table(name).waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the screen`);
      }
      await section("Audit log");
      const tallest = await table("Audit log").locator("tbody tr").evaluateAll((all) => Math.max(...all.map((row) => row.offsetHeight)));
      assert.ok(tallest < 60, `a row of the audit log is ${tallest} pixels tall`);
      const hasItsColours = (dark) => {
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data[0] < 128 === dark;
      };
      await page.waitForFunction(hasItsColours, colorScheme === "dark");
    });
  }
});
