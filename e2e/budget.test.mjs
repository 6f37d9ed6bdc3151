// The page says how much of a budget is used before it is over, and when it is over, why
// a message was refused and when it can be sent.
import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { answer, ask, composer, expectRefusal, shot } from "./browser.mjs";
import { arrive, faults, leaveNoFaults, page, stack, useSlowModel } from "./suite.mjs";

const DAY = 40;

// Each answer costs at least its own words and the prompt: more than the day has.
useSlowModel(["The keeper ", "winds the clock at seven."], 5, async () => ({ DAILY_TOKENS: String(DAY) }));
beforeEach(async () => {
  await arrive();
  await page.goto("/");
});
leaveNoFaults();

const notice = () => page.getByRole("status").filter({ hasText: "today's AI budget" });

it("tells when the day's budget is nearly used, and when a message is over it", async () => {
  assert.equal(await notice().count(), 0);
  await ask(page, "When is the clock wound?");
  await answer(page, 1);
  await notice().waitFor();
  assert.match(await notice().innerText(), /You have used \d+% of today's AI budget\. It starts over at \d/);
  await shot(page, "90-budget-notice");

  expectRefusal(faults, 429);
  const refused = page.waitForResponse((r) => r.status() === 429);
  await ask(page, "And at night?");
  const res = await refused;
  const { error } = await res.json();
  assert.equal(error.code, "budget_reached");
  assert.match(error.retry_at, /T00:00:00/);
  assert.ok(Number(res.headers()["retry-after"]) <= 24 * 3600);
  await page.getByRole("alert").filter({ hasText: "budget" }).waitFor();
  assert.match(await page.getByRole("alert").first().innerText(), /00:00 UTC/);
  await shot(page, "91-budget-over");
});

it("greets the next visitor of the network with the notice", async () => {
  await notice().waitFor();
  assert.ok(await composer(page).isVisible());
  const me = await (await page.request.get(`${stack.url}/api/me`)).json();
  assert.ok(me.limits.some((u) => u.name === "daily_tokens" && u.used >= u.limit));
});
