// What a person sees of a conversation, and what tests set it up with.
import assert from "node:assert/strict";

export const yours = (page) => page.getByRole("article", { name: "You", exact: true });
export const writing = (page) => page.getByRole("article", { name: "Palaver is writing" });
export const conversation = (page) => page.getByRole("region", { name: "Conversation" });
export const progress = (page) => page.getByRole("status", { name: "Progress" });
/** The badge of an answer that is not complete. */
export const interrupted = (page) => page.locator("span").filter({ hasText: /^(You stopped this answer|This answer was interrupted)$/ });
export const stop = (page) => page.getByRole("button", { name: "Stop", exact: true });

/** Adds a document by the API, as the person of the page, and waits until it can be asked about. */
export async function addDocument(page, title, text) {
  const made = await page.request.post("/api/documents", { data: { title, text } });
  assert.ok(made.ok(), `document not taken: ${made.status()}`);
  const { id } = await made.json();
  await assertSoon(async () => (await (await page.request.get(`/api/documents/${id}`)).json()).status === "ready", `${title} is ready`);
  return id;
}

/** Waits for something that no element of the page shows. */
export async function assertSoon(holds, what, ms = 30_000) {
  const end = Date.now() + ms;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until there are n of something: a row that has just come is not there before it is measured. */
export const many = (locator, n) => assertSoon(async () => (await locator.count()) === n, `${n} of ${locator}`);

/** The conversation of the address bar as the server has it. */
export async function history(page) {
  const id = page.url().split("/").at(-1);
  return (await page.request.get(`/api/chat/history/${id}`)).json();
}

/** Begins a conversation with the agent that has tools, and opens it. */
export async function startWithTools(page, text) {
  const id = crypto.randomUUID();
  // Its stream ends when the turn asks or is over.
  const sent = await page.request.post("/api/ui/chat", { data: { id, agent: "assistant", message: { id: "m1", role: "user", parts: [{ type: "text", text }] } } });
  assert.ok(sent.ok(), `message not taken: ${sent.status()}`);
  await page.goto(`/chat/${id}`);
}

/** Notes from now on what the line of PalReasoning says and when, as [words, ms]. */
export const watchProgress = (page) =>
  page.addInitScript(() => {
    window.progress = [];
    new MutationObserver(() => {
      const line = document.querySelector("[role=status] .shimmer")?.textContent ?? "";
      if (window.progress.at(-1)?.[0] !== line) window.progress.push([line, performance.now()]);
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
