// The page says how much of a budget is used before it is exceeded. When it is exceeded,
// the page says why a message was rejected and when it can be sent.
import assert from "node:assert/strict";
import { it } from "node:test";
import { ask, expectRefusal, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, page, useSlowModel } from "../suite.mjs";
import { addDocument } from "../thread.mjs";

const QUOTE = "The keeper winds the clock at seven.";
const CALL = 140; // tokens that the model reports for each call

// A message takes two model calls: more than 80 % of the day's budget, and less than all of it.
useSlowModel(["The keeper winds the clock ", "at seven [1]."], 5, async () => ({ DAILY_TOKENS: String(2.15 * CALL) }));
leaveNoFaults();

const notice = () => page.getByRole("status").filter({ hasText: "today's AI budget" });
const reason = () => page.getByRole("alert").filter({ hasText: "budget" });

it("says when the day's budget is nearly used, and when a message exceeds it", async () => {
  await arrive();
  await page.goto("/");
  await addDocument(page, "Lighthouse notes", QUOTE);
  assert.equal(await notice().count(), 0);
  await ask(page, "When does the keeper wind the clock?");
  await page.getByText("at seven").first().waitFor();
  await notice().waitFor();
  assert.match(await notice().innerText(), /You have used 93% of today's AI budget\. It starts over at \d/);
  await shot(page, "90-budget-notice");

  await ask(page, "Who winds the clock?"); // a turn may exceed the budget
  await notice().filter({ hasText: "100%" }).waitFor();
  expectRefusal(faults, 429);
  const refused = page.waitForResponse((r) => r.status() === 429);
  await ask(page, "And at night?");
  const res = await refused;
  const { error } = await res.json();
  assert.equal(error.code, "budget_reached");
  assert.match(error.retry_at, /T00:00:00/);
  assert.ok(Number(res.headers()["retry-after"]) <= 24 * 3600);
  await reason().waitFor();
  assert.match(await reason().innerText(), /00:00 UTC/);
  await shot(page, "91-budget-over");
});
