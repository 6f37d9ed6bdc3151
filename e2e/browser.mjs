// A real browser, pages that record faults, and locators by visible text.
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"];

const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";

/** Starts a browser, and has it listen on a port for test files that share it. */
export const startBrowserAt = (port) => chromium.launch({ executablePath, args: [...FLAGS, `--remote-debugging-port=${port}`] });

/** Connects to the browser at PALAVER_BROWSER, or starts one. */
export const startBrowser = () => (process.env.PALAVER_BROWSER ? chromium.connectOverCDP(process.env.PALAVER_BROWSER) : chromium.launch({ executablePath, args: FLAGS }));

export const desktop = { viewport: { width: 1280, height: 800 }, colorScheme: "light" };
export const dark = { ...desktop, colorScheme: "dark" };
export const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

/** Opens a page for a new user (or with the given storage state). faults collects errors, policy violations and requests to other hosts. */
export async function newPage(browser, url, options = desktop) {
  const context = await browser.newContext({ baseURL: url, ...options });
  context.setDefaultTimeout(120_000); // for busy machines
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (err) => faults.push(`error: ${err.message}`));
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && faults.push(`console: ${m.text()}`));
  page.on("request", (r) => ![url, `blob:${url}`].some((own) => r.url().startsWith(`${own}/`)) && faults.push(`request to another host: ${r.url()}`));
  await page.addInitScript(() => {
    window.statuses = [];
    new MutationObserver(() => {
      const line = document.querySelector(".shimmer")?.textContent;
      if (line && window.statuses.at(-1) !== line) window.statuses.push(line);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  return { page, context, faults };
}

/** Ignores the browser's console errors for responses with this status. */
export const expectRefusal = (faults, status) => ignore(faults, `status of ${status}`);

/** Ignores the browser's console errors for connections that a test cuts. */
export const expectCuts = (faults) => ignore(faults, "net::ERR_");

/** Ignores the browser's console errors for inline scripts that a policy has blocked. */
export const expectBlocked = (faults) => ignore(faults, "Executing inline event handler violates");

function ignore(faults, what) {
  const keep = faults.push.bind(faults);
  const value = (fault) => (fault.includes(what) ? faults.length : keep(fault));
  Object.defineProperty(faults, "push", { value, configurable: true }); // not enumerable: faults stays comparable to []
}

/** Takes a screenshot of a main state, for people to look at: only with SHOTS=1. */
export const shot = async (page, name) => process.env.SHOTS && screenshot(page, name);

export async function screenshot(page, name) {
  await mkdir(SHOTS, { recursive: true });
  await page.screenshot({ path: `${SHOTS}${name}.png`, animations: "disabled" });
}

export const messageForm = (page) => page.getByRole("form", { name: "Message", exact: true });
export const composer = (page) => page.getByRole("textbox", { name: "Message", exact: true });
export const assist = (page) => page.getByRole("region", { name: "Palaver needs your reply" });
export const answers = (page) => page.getByRole("article", { name: "Palaver", exact: true });
export const statuses = (page) => page.evaluate(() => window.statuses);
export const sendButton = (page) => page.getByRole("button", { name: /^(Send|Stop and send)$/ });

/** Empties the composer by keyboard, because the editor may not see a selection made by fill(). */
export async function clear(page) {
  await composer(page).press("ControlOrMeta+a");
  await composer(page).press("Backspace");
}

export async function ask(page, text) {
  await composer(page).fill(text);
  await send(page);
}

/** Sends the composer's text: with Enter, or with the button where Enter breaks the line. */
export async function send(page) {
  const touch = await page.evaluate(() => matchMedia("(pointer: coarse)").matches);
  await (touch ? messageForm(page).getByRole("button", { name: /^(Send|Stop and send)$/ }).tap() : composer(page).press("Enter"));
}

/** Types "@" and the beginning of a name, and picks the entry by keyboard. */
export async function mention(page, name) {
  await composer(page).pressSequentially(`@${name.slice(0, 8)}`);
  const option = page.getByRole("option", { name });
  await option.waitFor();
  while ((await option.getAttribute("aria-selected")) !== "true") await composer(page).press("ArrowDown");
  await composer(page).press("Enter");
  await composer(page).locator(".mention", { hasText: name }).waitFor();
}

/** Sends a text that mentions the document with this title. */
export async function askTagging(page, before, title, after) {
  if (before) await composer(page).pressSequentially(before);
  await mention(page, title);
  if (after) await composer(page).pressSequentially(after);
  await composer(page).press("Enter");
}

/** Waits until there are n answers and returns the last. */
export async function answer(page, n) {
  await answers(page).nth(n - 1).waitFor();
  return answers(page).nth(n - 1);
}

/** The rows of the documents panel. */
export const documents = (page) => page.getByRole("list", { name: /^Documents/ }).getByRole("listitem");

export async function openDocuments(page) {
  const open = page.getByRole("button", { name: /^Library/ });
  if ((await open.getAttribute("aria-expanded")) !== "true") await open.click();
  await page.getByRole("tab", { name: "Documents" }).waitFor();
}

/** Adds a document in the panel and waits until it is ready. */
export async function upload(page, name, text) {
  await openDocuments(page);
  await page.getByLabel("Add documents").and(page.locator("input")).setInputFiles({ name, mimeType: "text/markdown", buffer: Buffer.from(text) });
}

export const ready = (page, title) => documents(page).filter({ hasText: title }).and(page.locator("[data-status=ready]")).waitFor();

/** Waits until every animation that ends has ended, also those that begin with the next frame. */
export const still = (page) =>
  page.evaluate(async () => {
    const moving = () => document.getAnimations().filter((a) => a.playState === "running" && Number.isFinite(a.effect.getComputedTiming().endTime));
    do {
      await Promise.all(moving().map((a) => a.finished.catch(() => {})));
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    } while (moving().length > 0);
  });

/** Returns axe's violations of WCAG 2.2 AA and of its best practices. */
export async function axe(page) {
  await page.evaluate(AXE); // not a <script>: the content security policy forbids it
  await still(page); // during a transition axe would measure the contrast of an intermediate colour
  // The focus guards of menus and dialogs are hidden and focusable on purpose.
  const where = { exclude: ["[data-base-ui-focus-guard]"] };
  const { violations } = await page.evaluate((context) => window.axe.run(context, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }), where);
  // An open menu, list or tooltip belongs to its button or field, wherever it is in the document.
  const popup = (rule, html) => rule === "region" && /role="(menu|listbox|tooltip)"/.test(html);
  return violations.flatMap((v) => v.nodes.filter((n) => !popup(v.id, n.html)).map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary?.split("\n")[1]?.trim()}`));
}
