// Locators of a conversation, and helpers that set it up.
import assert from "node:assert/strict";

export const yours = (page) => page.getByRole("article", { name: "You", exact: true });
export const writing = (page) => page.getByRole("article", { name: "Palaver is writing" });
export const conversation = (page) => page.getByRole("region", { name: "Conversation" });
export const progress = (page) => page.getByRole("status", { name: "Progress" });
/** The badge of an incomplete answer. */
export const interrupted = (page) => page.locator("span").filter({ hasText: /^(You stopped this answer|This answer was interrupted)$/ });
export const stop = (page) => page.getByRole("button", { name: "Stop", exact: true });

/** Adds a document by the API as the page's user, and waits until it is ready. */
export async function addDocument(page, title, text) {
  const made = await page.request.post("/api/documents", { data: { title, text } });
  assert.ok(made.ok(), `document rejected: ${made.status()}`);
  const { id } = await made.json();
  await assertSoon(async () => (await (await page.request.get(`/api/documents/${id}`)).json()).status === "ready", `${title} is ready`);
  return id;
}

/** Waits for a condition that no element of the page shows. */
export async function assertSoon(holds, what, ms = 30_000) {
  const end = Date.now() + ms;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until the locator has n elements. A new row exists only after it was measured. */
export const many = (locator, n) => assertSoon(async () => (await locator.count()) === n, `${n} of ${locator}`);

/** The server's history of the conversation in the address bar. */
export async function history(page) {
  const id = page.url().split("/").at(-1);
  return (await page.request.get(`/api/chat/history/${id}`)).json();
}

/** Starts a conversation with the assistant, and opens it. */
export async function startWithTools(page, text) {
  const id = crypto.randomUUID();
  // The stream ends with a question or the end of the turn.
  const sent = await page.request.post("/api/ui/chat", { data: { id, agent: "assistant", message: { id: "m1", role: "user", parts: [{ type: "text", text }] } } });
  assert.ok(sent.ok(), `message rejected: ${sent.status()}`);
  await page.goto(`/chat/${id}`);
}

/** Records the texts of the status line with their times, as [words, ms]. */
export const watchProgress = (page) =>
  page.addInitScript(() => {
    window.progress = [];
    new MutationObserver(() => {
      const line = document.querySelector("[role=status] .shimmer")?.textContent ?? "";
      if (window.progress.at(-1)?.[0] !== line) window.progress.push([line, performance.now()]);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
