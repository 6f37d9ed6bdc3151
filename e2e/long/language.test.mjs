// The page in the language of the browser.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, axe, desktop, phone, shot } from "../browser.mjs";
import { addDocument } from "../thread.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "../suite.mjs";

useStack();
leaveNoFaults();

const BOTH = "Summarize and audit the liquidity policy"; // also the title of the chat
const german = { locale: "de-DE", timezoneId: "Europe/Berlin" };
const field = () => page.getByRole("textbox", { name: "Nachricht", exact: true });
const ask = async (text) => {
  await field().fill(text);
  await page.getByRole("button", { name: "Senden", exact: true }).click();
};

/** Returns the page's own texts, visible or for screen readers, without messages and names. */
const ownWords = () =>
  page.evaluate(() => {
    const foreign = "article p, article h2, article h3, article li, article td, [dir=auto], .composer-text .mention, [data-announcer], title, script, style, noscript";
    const shown = document.querySelectorAll("body *");
    return [...shown].flatMap((el) => {
      if (el.closest(foreign)) return [];
      const own = [...el.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data.trim());
      return [...own, ...["aria-label", "title", "placeholder", "data-placeholder", "alt"].map((a) => el.getAttribute(a) ?? "")].filter(Boolean);
    });
  });

const ENGLISH = /\b(the|your|you|and|of|for|with|ask|add|new|open|close|delete|remove|search|documents?|message|answer|send|stop|edit|copy|library|theme|keyboard|mode|high|tokens? used|processing|today|more)\b/i;

async function allGerman(state) {
  const { items } = await (await page.request.get("/api/documents?limit=200")).json();
  const withoutTitles = (text) => [BOTH, ...items.map(({ title }) => title)].reduce((rest, name) => rest.replaceAll(name, ""), text);
  const english = (await ownWords()).filter((text) => ENGLISH.test(withoutTitles(text)));
  assert.deepEqual(english, [], state);
}

for (const [name, look] of [["on a desktop", desktop], ["on a phone", phone]]) {
  describe(`a German browser ${name}`, () => {
    const picture = (of) => shot(page, `7-german-${name.split(" ").at(-1)}-${of}`);

    beforeEach(async () => {
      await arrive({ ...look, ...german });
      await page.goto("/");
      await page.getByRole("heading", { name: "Fragen Sie Ihre Dokumente" }).waitFor();
    });

    it("gets a German page, with its questions, numbers and dates", async () => {
      assert.equal(await page.evaluate(() => document.documentElement.lang), "de-DE");
      await addDocument(page, "Liquidity policy 2024", "# Liquidity\n\nThe liquidity coverage ratio is 100 percent. It is reported every month.");
      await addDocument(page, "Liquidity policy 2025", "# Liquidity\n\nThe liquidity coverage ratio is 110 percent. It is reported every week.");
      await page.reload();
      await page.getByRole("button", { name: "Was steht in Liquidity policy 2025 über „Liquidity“?" }).waitFor();
      await allGerman("welcome");
      await picture("welcome");
      assert.deepEqual(await axe(page), []);

      await page.getByRole("button", { name: /^Bibliothek/ }).click();
      await page.getByRole("button", { name: "Liquidity policy 2024 öffnen" }).waitFor();
      await allGerman("library");
      await picture("library");
      await page.getByRole("button", { name: "Bibliothek schließen" }).click();

      await field().pressSequentially("@");
      await page.getByRole("group", { name: "Aktionen" }).getByRole("option", { name: "Gegen Regeln prüfen" }).waitFor();
      await allGerman("mentions");
      await picture("mentions");
      await page.keyboard.press("Escape");

      await ask(BOTH);
      const asked = page.getByRole("region", { name: "Palaver wartet auf Ihre Antwort" });
      await asked.getByText("Welche soll zuerst kommen?").waitFor();
      await allGerman("question");
      await picture("question");
      await asked.getByRole("button", { name: "Abbrechen" }).click();
      await asked.waitFor({ state: "detached" });
      await page.getByText("Abgebrochen", { exact: true }).waitFor();

      await ask("What is the liquidity coverage ratio in the Liquidity policy 2025?");
      const got = await answer(page, 2);
      await got.getByRole("button", { name: "Neu erzeugen" }).waitFor();
      await got.locator("summary[aria-label='Über diese Antwort']").click();
      await got.getByText(/Sicherheit$/).waitFor();
      await got.getByRole("button", { name: /^Quelle \d+: / }).first().waitFor();
      assert.match(await got.locator("time").getAttribute("title"), /^\d+\.\d+\.\d{4}, /);
      await allGerman("answer");
      await picture("answer");
    });
  });
}

it("a browser loads the texts of its language alone, and one of another language gets English", async () => {
  for (const [locale, lang] of [["en-GB", "en-GB"], ["de-AT", "de-AT"], ["fr-FR", "en"]]) {
    await arrive({ ...desktop, locale });
    const scripts = [];
    page.on("request", (r) => scripts.push(new URL(r.url()).pathname));
    await page.goto("/", { waitUntil: "networkidle" });
    await page.locator("[data-composer]").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), lang);
    assert.deepEqual(scripts.flatMap((path) => /\/(de|en)-/.exec(path)?.[1] ?? []), [lang.slice(0, 2)]);
  }
});

it("a German browser gets English when German cannot be loaded", async () => {
  await arrive({ ...desktop, ...german });
  await page.route("**/de-*.js", (route) => route.abort());
  await page.goto("/");
  await page.getByRole("heading", { name: "Ask your documents" }).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
  faults.splice(0, faults.length, ...faults.filter((f) => !f.includes("ERR_FAILED")));
});
