// Signing in at an OpenID Connect provider: a real one.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { answer, ask, composer, expectCuts, expectRefusal } from "../browser.mjs";
import { startOIDC } from "../oidc.mjs";
import { startSlowModel } from "../slow-model.mjs";
import { freePort, startStack } from "../stack.mjs";
import { addDocument } from "../thread.mjs";
import { arrive, context, faults, leaveNoFaults, page, stack, useStack } from "../suite.mjs";

const pageOn = async () => `http://127.0.0.1:${await freePort()}`;

let oidc;
useStack(async () => {
  oidc = await startOIDC(await pageOn());
  return oidc.settings;
});
after(() => oidc?.stop());

/** Going to the provider is a request to another host, and meant. */
function asksProvider(list, url) {
  const keep = list.push.bind(list);
  Object.defineProperty(list, "push", { value: (fault) => (fault.includes(url) ? list.length : keep(fault)), configurable: true });
}

const eachANewPerson = (at = () => ({ oidc, stack })) => {
  beforeEach(async () => {
    const { oidc: provider, stack: server } = at();
    Object.assign(provider, { login: "ann", lifetime: 3600, down: false, grants: [] });
    await arrive(undefined, server.url);
    asksProvider(faults, provider.url);
    await page.goto("/");
  });
  leaveNoFaults();
};

const signInButton = (p = page) => p.getByRole("complementary").or(p.locator("body")).getByRole("button", { name: "Sign in", exact: true }).first();
const account = (p = page) => p.getByRole("button", { name: "Your account" });
const conversations = () => page.getByRole("navigation", { name: "Chats" });
const notice = (text) => page.getByRole("region", { name: /^Notifications/ }).getByText(text).first();

const toProvider = () => page.getByRole("button", { name: /^Continue with 127\.0\.0\.1/ }).click();

async function signIn(answers = "Allow") {
  await signInButton().click();
  await toProvider();
  await page.getByRole("link", { name: answers }).click();
  if (answers === "Allow") await account().waitFor();
}

describe("an account of an OpenID Connect provider", () => {
  eachANewPerson();

  it("takes along what the browser has, comes back to the same chat, and signs out at the provider", async () => {
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    const chat = page.url();
    await signIn();
    assert.equal(page.url(), chat);
    await answer(page, 1);
    await notice("The chat of this browser is now in your account.").waitFor();
    await ask(page, "And who submits it?");
    await answer(page, 2);
    await account().click();
    await page.getByText("ann@example.com").waitFor();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign out at the provider" }).click();
    await signInButton().waitFor();
    assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((k) => k.startsWith("palaver.session"))), []);
    assert.equal(await conversations().getByRole("listitem").count(), 0);
    await signIn(); // the provider has forgotten, too: it asks again
    await conversations().getByRole("link").first().waitFor();
  });

  it("says when access was not allowed, and takes no code that this tab has not asked for", async () => {
    await signIn("Cancel");
    await notice("You weren't signed in, because access wasn't allowed.").waitFor();
    await page.goto("/?code=stolen&state=forged");
    await notice("belongs to another browser").waitFor();
    await signInButton().waitFor();
  });

  /**
   * Makes the page find at its next load that its token ends soon, or has ended. The page that runs
   * does not see it: it would go to the provider by itself while it is reloaded.
   */
  const endsIn = (ms) =>
    page.evaluate((ms) => addEventListener("pagehide", () => {
      const session = JSON.parse(localStorage.getItem("palaver.session"));
      localStorage.setItem("palaver.session", JSON.stringify({ ...session, expires: Date.now() + ms }));
    }), ms);

  it("is renewed before it ends, and while the provider is down goes on as long as its token", async () => {
    await signIn();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    assert.equal(oidc.grants.length, 1);
    await endsIn(20_000);
    await page.reload();
    await answer(page, 1);
    await account().waitFor();
    assert.equal(oidc.grants.length, 2);
    oidc.down = true;
    expectCuts(faults);
    await endsIn(50_000);
    await page.reload();
    await answer(page, 1);
    oidc.down = false;
    await ask(page, "And who submits it?");
    await answer(page, 2);
  });

  it("goes on when the answer to a refresh was lost: the provider is not asked with the old token again", async () => {
    await signIn();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    const chat = page.url();
    const refusals = [];
    page.on("response", (r) => r.url() === `${oidc.url}/token` && r.status() === 400 && refusals.push(r));
    expectCuts(faults);
    expectRefusal(faults, 400);
    await page.route(`${oidc.url}/token`, async (route) => {
      await route.fetch(); // the provider has answered
      await route.abort();
    }, { times: 1 });
    await endsIn(20_000);
    await page.reload();
    await answer(page, 1);
    await ask(page, "And who submits it?");
    await answer(page, 2);
    assert.equal(refusals.length, 1);
    await endsIn(-1);
    await page.reload(); // it goes to the provider and back
    await answer(page, 2);
    await account().waitFor();
    assert.equal(page.url(), chat);
    await ask(page, "And when is it voted on?");
    await answer(page, 3);
    assert.equal(refusals.length, 1);
  });

  it("works with new keys of the provider, without a restart", async () => {
    await signIn();
    await context.clearCookies();
    await page.evaluate(() => localStorage.clear());
    oidc.rotate();
    await page.goto("/");
    await signIn();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
  });
});

describe("a token that ends while an answer is written", () => {
  let slow, model, provider;
  before(async () => {
    model = await startSlowModel(["The keeper winds the clock ", "at seven [1]."], 5);
    provider = await startOIDC(await pageOn());
    slow = await startStack({ ...provider.settings, ...model.settings });
  });
  after(async () => {
    await slow?.stop();
    await model?.stop();
    await provider?.stop();
  });
  eachANewPerson(() => ({ oidc: provider, stack: slow }));

  it("is renewed, and nothing of the answer is lost", async () => {
    await composer(page).waitFor();
    await addDocument(page, "Lighthouse notes", "The keeper winds the clock at seven."); // the account takes it over
    await signIn();
    provider.lifetime = 2; // the server ends a stream 30 s after its token
    await page.evaluate(() => {
      const session = JSON.parse(localStorage.getItem("palaver.session"));
      localStorage.setItem("palaver.session", JSON.stringify({ ...session, expires: 1 }));
    });
    expectRefusal(faults, 401);
    model.hold = 1;
    await ask(page, "When does the keeper wind the clock?");
    await page.getByText("The keeper winds the clock").first().waitFor();
    await page.waitForRequest((r) => /\/stream/.test(r.url()) && r.method() === "GET", { timeout: 120_000 });
    model.hold = Infinity;
    await page.getByText("at seven").first().waitFor();
    await answer(page, 1);
  });
});
