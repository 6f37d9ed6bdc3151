// Signing in with Supabase, against a small copy of its auth server.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { answer, ask, axe, composer, dark, desktop, expectCuts, expectRefusal, newPage, phone, shot } from "../browser.mjs";
import { startGoTrue } from "../gotrue.mjs";
import { startSlowModel } from "../slow-model.mjs";
import { startStack } from "../stack.mjs";
import { addDocument } from "../thread.mjs";
import { arrive, browser, context, faults, leaveNoFaults, page, stack, useStack } from "../suite.mjs";

const EMAIL = "ann@example.com";
const PASSWORD = "correct horse";
const PICTURE = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==", "base64");

let auth;
useStack(async () => {
  auth = await startGoTrue({ [EMAIL]: PASSWORD });
  return auth.settings;
});
after(() => auth?.stop());

/** Going to the auth server is a request to another host, and meant. */
function asksAuth(list) {
  const keep = list.push.bind(list);
  const value = (fault) => (fault.includes(auth.url) ? list.length : keep(fault));
  Object.defineProperty(list, "push", { value, configurable: true });
}

const eachANewPerson = (look = desktop, url) => {
  beforeEach(async () => {
    Object.assign(auth, { lifetime: 3600, stale: 0, limited: false, lost: 0, mails: [], asked: [] });
    await arrive(look, url?.());
    asksAuth(faults);
    await page.goto("/");
  });
  leaveNoFaults();
};

const signInButton = (p = page) => p.getByRole("complementary").or(p.locator("body")).getByRole("button", { name: "Sign in", exact: true }).first();
const dialog = (p = page) => p.getByRole("dialog", { name: "Sign in to Palaver" });
const account = (p = page) => p.getByRole("button", { name: "Your account" });
const conversations = (p = page) => p.getByRole("navigation", { name: "Chats" });
const notice = (text) => page.getByRole("region", { name: /^Notifications/ }).getByText(text).first();
const refreshes = () => auth.asked.filter((a) => a.endsWith("refresh_token")).length;

async function enter(form, email = EMAIL, password = PASSWORD) {
  await form.getByLabel("Email").fill(email);
  await form.getByLabel("Password").fill(password);
  await form.getByRole("button", { name: "Sign in", exact: true }).click();
}

async function signIn(p = page) {
  await signInButton(p).click();
  await enter(dialog(p));
  await account(p).waitFor();
}

async function choose(item, p = page) {
  await account(p).click();
  await p.getByRole("menuitem", { name: item }).click();
}

describe("signing in", () => {
  eachANewPerson();

  it("with a password takes the chats of this browser along", async () => {
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    const at = page.url();
    const before = await context.cookies();
    await signInButton().click();
    assert.deepEqual(await axe(page), []);
    await shot(page, "signin-dialog");
    expectRefusal(faults, 400);
    await enter(dialog(), EMAIL, "wrong");
    await dialog().getByRole("alert").getByText("The email address or the password is wrong.").waitFor();
    assert.equal(await dialog().getByLabel("Password").getAttribute("aria-invalid"), "true");
    await page.waitForFunction(() => document.activeElement?.getAttribute("name") === "password");
    await shot(page, "signin-wrong-password");
    await dialog().getByLabel("Password").fill(PASSWORD);
    await dialog().getByLabel("Password").press("Enter");
    await notice("The chat of this browser is now in your account.").waitFor();
    assert.equal(page.url(), at);
    await answer(page, 1);
    await shot(page, "signin-claimed");
    await ask(page, "And who submits it?");
    await answer(page, 2);
    await page.reload();
    await answer(page, 2);

    // The cookie of before opens nothing any more.
    const other = await browser.newContext({ baseURL: stack.url });
    await other.addCookies(before);
    assert.deepEqual((await (await other.request.get("/api/conversations")).json()).items, []);
    await other.close();
    // A browser without this session sees nothing either; the account has it everywhere.
    const second = await newPage(browser, stack.url);
    await second.page.goto("/");
    await signIn(second.page);
    await conversations(second.page).getByText("When is the capital plan submitted?").waitFor();
    await second.context.close();
  });

  it("with an email link comes back to where the page was", async () => {
    await page.goto("/discovery");
    await signInButton().click();
    await dialog().getByRole("button", { name: "Email me a link instead" }).click();
    await dialog().getByRole("button", { name: "Email me a link" }).click();
    await dialog().getByRole("alert").getByText("Enter your email address").waitFor();
    await dialog().getByLabel("Email").fill("lin@example.com");
    await dialog().getByRole("button", { name: "Email me a link" }).click();
    await page.getByText("We sent a link to lin@example.com.").waitFor();
    await shot(page, "signin-check-email");
    assert.deepEqual(await axe(page), []);
    await page.goto(auth.mails.at(-1).link);
    await account().waitFor();
    assert.equal(page.url(), `${stack.url}/discovery`);
    await account().click();
    await page.getByText("lin@example.com").waitFor();
    await shot(page, "signin-account-menu");
    await page.keyboard.press("Escape");
    assert.ok(!auth.asked.includes("GET /auth/v1/user"));
  });

  it("says that a link has expired, or belongs to another browser", async () => {
    await signInButton().click();
    await dialog().getByRole("button", { name: "Email me a link instead" }).click();
    await dialog().getByLabel("Email").fill("lin@example.com");
    await dialog().getByRole("button", { name: "Email me a link" }).click();
    await page.getByText("We sent a link").waitFor();
    const { link } = auth.mails.at(-1);
    const other = await newPage(browser, stack.url);
    await other.page.goto(link);
    await other.page.getByText("This link belongs to another browser.").first().waitFor();
    assert.equal(other.page.url(), `${stack.url}/`);
    await other.context.close();
    await page.goto(link);
    await notice("This link has expired or was used already.").waitFor();
    assert.equal(page.url(), `${stack.url}/`);
    await composer(page).waitFor();
  });

  it("accepts the code of the email", async () => {
    await signInButton().click();
    await dialog().getByRole("button", { name: "Email me a link instead" }).click();
    await dialog().getByLabel("Email").fill("kim@example.com");
    await dialog().getByRole("button", { name: "Email me a link" }).click();
    await dialog().getByLabel("Code").fill("000000");
    expectRefusal(faults, 403);
    await dialog().getByRole("button", { name: "Sign in with the code" }).click();
    await dialog().getByText("This code is wrong or has expired.").waitFor();
    await dialog().getByLabel("Code").fill("123456");
    await dialog().getByRole("button", { name: "Sign in with the code" }).click();
    await account().waitFor();
  });

  it("goes to a provider and back, and says when access was not allowed", async () => {
    await signInButton().click();
    await dialog().getByRole("button", { name: "Continue with Google" }).click();
    await page.getByRole("link", { name: "Cancel" }).click();
    await notice("You weren't signed in, because access wasn't allowed.").waitFor();
    await signInButton().click();
    await dialog().getByRole("button", { name: "Continue with Google" }).click();
    await page.getByRole("link", { name: "Allow" }).click();
    await account().click();
    await page.getByText("ann@google.example").waitFor();
    assert.equal(page.url(), `${stack.url}/`);
    await page.keyboard.press("Escape");
  });

  it("creates an account, and says what is wrong with the password", async () => {
    await signInButton().click();
    await dialog().getByRole("button", { name: "No account yet? Create one" }).click();
    await dialog().getByLabel("Email").fill("new@example.com");
    await dialog().getByLabel("Password").fill("short");
    expectRefusal(faults, 422);
    await dialog().getByRole("button", { name: "Create account" }).click();
    await dialog().getByText("This password is too easy to guess.").waitFor();
    await dialog().getByLabel("Password").fill("a longer password");
    await dialog().getByRole("button", { name: "Create account" }).click();
    await account().waitFor();
  });

  it("says when there were too many tries, and when the server cannot be reached", async () => {
    await signInButton().click();
    auth.limited = true;
    expectRefusal(faults, 429);
    await enter(dialog());
    await dialog().getByText("Too many tries. Wait a minute, then try again.").waitFor();
    expectCuts(faults);
    await context.route(`${auth.url}/**`, (route) => route.abort());
    await enter(dialog());
    await dialog().getByText("The sign-in server can't be reached.").waitFor();
  });
});

describe("an account", () => {
  eachANewPerson();

  it("refreshes a token that expires soon, and one that the server refuses", async () => {
    auth.lifetime = 60; // always within the margin in which auth-js refreshes
    await signIn();
    const before = refreshes();
    await page.reload();
    await account().waitFor();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    assert.ok(refreshes() > before);

    auth.lifetime = 3600;
    auth.stale = 1; // the next token is refused by the server
    expectRefusal(faults, 401);
    const n = refreshes();
    await page.reload();
    await answer(page, 1);
    await ask(page, "And who submits it?");
    await answer(page, 2);
    assert.ok(refreshes() > n);
  });

  it("stays signed in when the answer to a refresh is lost", async () => {
    auth.lifetime = 60; // each load of the page refreshes the token
    await signIn();
    auth.lost = 1;
    expectCuts(faults);
    const n = refreshes();
    await page.reload();
    await account().waitFor();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    assert.ok(auth.lost <= 0 && refreshes() > n + 1);
  });

  it("is the same in two tabs, which follow a sign-in and a sign-out", async () => {
    const second = await context.newPage();
    await second.goto("/");
    await composer(second).waitFor();
    await signIn();
    await account(second).waitFor();
    await choose("Sign out", second);
    await signInButton(second).waitFor();
    await signInButton(page).waitFor();
    await page.waitForFunction(() => !localStorage.getItem("palaver.session"));
    assert.ok(auth.asked.includes("POST /auth/v1/logout"));
  });

  it("has its pictures, its export, what it has used, and deletes everything", async () => {
    await signIn();
    await messageFile("chart.png", "image/png", PICTURE);
    await ask(page, "What does this show?");
    await page.getByRole("list", { name: "Images" }).getByRole("img").waitFor();
    await page.waitForFunction(() => [...document.images].every((i) => i.complete && i.naturalWidth > 0));
    await answer(page, 1);
    const download = page.waitForEvent("download");
    await choose("Download your data");
    assert.match((await download).suggestedFilename(), /^palaver-.*\.zip$/);
    await choose("Usage");
    await page.getByRole("dialog", { name: "Usage" }).getByText("Chats").waitFor();
    assert.deepEqual(await axe(page), []);
    await shot(page, "signin-usage");
    await page.keyboard.press("Escape");
    await choose("Delete everything");
    const sure = page.getByRole("dialog", { name: "Delete everything?" });
    assert.equal(await sure.getByRole("button", { name: "Delete everything", exact: true }).isDisabled(), true);
    assert.deepEqual(await axe(page), []);
    await shot(page, "signin-delete");
    await sure.getByRole("checkbox").check();
    const thread = page.locator("article").first(); // behind the dialog, thus without a role
    const run = sure.getByRole("button", { name: "Delete everything", exact: true });
    expectRefusal(faults, 500);
    await page.route("**/api/me?confirm=*", (route) => route.fulfill({ status: 500, json: {} }), { times: 1 });
    await run.click();
    await sure.getByRole("alert").waitFor();
    await thread.waitFor({ state: "attached" });
    await page.route("**/api/me?confirm=*", async (route) => {
      await thread.waitFor({ state: "detached" }); // it would ask for what is being deleted
      await route.continue();
    });
    await run.click();
    await signInButton().waitFor();
    await signIn();
    await conversations().getByText("What does this show?").waitFor({ state: "detached" });
    assert.equal(await conversations().getByRole("listitem").count(), 0);
  });
});

const messageFile = (name, mimeType, buffer) => page.locator("input[type=file]").first().setInputFiles({ name, mimeType, buffer });

describe("an answer that is being written", () => {
  let slow, model;
  before(async () => {
    model = await startSlowModel(["The keeper winds the clock ", "at seven [1]."], 5);
    slow = await startStack({ ...auth.settings, ...model.settings });
  });
  after(async () => {
    await slow?.stop();
    await model?.stop();
  });
  eachANewPerson(desktop, () => slow.url);

  it("follows its reader into the account when it is complete", async () => {
    expectRefusal(faults, 404); // until then the account does not have it
    await addDocument(page, "Lighthouse notes", "The keeper winds the clock at seven.");
    model.hold = 1;
    await ask(page, "When does the keeper wind the clock?");
    await page.getByText("The keeper winds the clock").first().waitFor();
    await signIn();
    model.hold = Infinity;
    await page.getByText("at seven").first().waitFor();
    await conversations().getByRole("link").first().waitFor();
    await page.waitForFunction(() => !localStorage.getItem("palaver.signIn"));
  });
});

describe("where an account is required", () => {
  let strict;
  before(async () => {
    strict = await startStack({ ...auth.settings, AUTH_MODE: "required" });
  });
  after(() => strict?.stop());
  eachANewPerson(desktop, () => strict.url);

  it("there is a page to sign in, and nothing is asked of the server before", async () => {
    const asked = [];
    page.on("request", (r) => asked.push(new URL(r.url()).pathname));
    await page.goto("/chat/0190a0a0-0000-7000-8000-000000000000");
    await page.getByRole("heading", { name: "Sign in to Palaver" }).waitFor();
    assert.deepEqual(asked.filter((p) => p.startsWith("/api/") && p !== "/api/config"), []);
    assert.equal(await page.title(), "Sign in to Palaver");
    await page.goto("/");
    await enter(page);
    await composer(page).waitFor();
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    await choose("Sign out");
    await page.getByRole("heading", { name: "Sign in to Palaver" }).waitFor();
    assert.equal(await page.evaluate(() => Object.keys(localStorage).length), 0);
  });

  it("a session that has ended leads back to it", async () => {
    await enter(page);
    await composer(page).waitFor();
    await page.evaluate(() => {
      const session = JSON.parse(localStorage.getItem("palaver.session"));
      localStorage.setItem("palaver.session", JSON.stringify({ ...session, expires_at: 1, refresh_token: "revoked" }));
    });
    expectRefusal(faults, 400);
    await page.reload();
    await page.getByRole("heading", { name: "Sign in to Palaver" }).waitFor();
  });

  it("speaks German to a German browser", async () => {
    const { page: p, context: c } = await newPage(browser, strict.url, { ...phone, locale: "de-DE" });
    await p.goto("/");
    await p.getByRole("heading", { name: "Bei Palaver anmelden" }).waitFor();
    await p.getByLabel("E-Mail").fill(EMAIL);
    await p.getByLabel("Passwort").fill("falsch");
    await p.getByRole("button", { name: "Anmelden", exact: true }).tap();
    await p.getByRole("alert").getByText("Die E-Mail-Adresse oder das Passwort ist falsch.").waitFor();
    await shot(p, "signin-page-german");
    await c.close();
  });

  for (const [name, look] of [["light", desktop], ["dark", dark], ["phone", phone]]) {
    it(`has no axe violations, ${name}`, async () => {
      const { page: p, context: c } = await newPage(browser, strict.url, look);
      await p.goto("/");
      await p.getByRole("heading", { name: "Sign in to Palaver" }).waitFor();
      assert.deepEqual(await axe(p), []);
      await shot(p, `signin-page-${name}`);
      assert.equal(await p.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
      await c.close();
    });
  }
});
