// A walk with the keyboard alone. Each element is reached with Tab, every stop on the way can be
// seen, and no action leaves the focus on the body.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { answer, answers, assist, composer, desktop, upload, ready } from "../browser.mjs";
import { startOIDC } from "../oidc.mjs";
import { freePort } from "../stack.mjs";
import { arrive, context, faults, leaveNoFaults, model, page, stack, useSlowModel, useStack } from "../suite.mjs";
import { addDocument, assertSoon, many, startWithTools, stop, writing, yours } from "../thread.mjs";

const MOST = 120; // stops on the way to an element

/** What has the focus; problem says why a person cannot see it. */
const focused = () =>
  page.evaluate(() => {
    const el = document.activeElement;
    if (!el || el === document.body) return { body: true, what: "the body" };
    const what = `${el.tagName.toLowerCase()} ${el.getAttribute("aria-label") ?? el.textContent?.trim().slice(0, 40) ?? ""}`;
    if (el.hasAttribute("data-base-ui-focus-guard")) return { guard: true, what };
    const box = el.getBoundingClientRect();
    const problems = [];
    if (box.width < 1 || box.height < 1) problems.push("it has no size");
    if (box.bottom < 1 || box.right < 1 || box.top > innerHeight - 1 || box.left > innerWidth - 1) problems.push("it is outside of the window");
    for (let up = el; up; up = up.parentElement) {
      if (Number(getComputedStyle(up).opacity) < 0.2) problems.push("it is transparent");
    }
    const framed = (s) => (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0) || s.boxShadow !== "none";
    const marked = (x) => framed(getComputedStyle(x)) || framed(getComputedStyle(x, "::after"));
    const caret = el.isContentEditable || ["INPUT", "TEXTAREA"].includes(el.tagName); // beside a caret, a frame around the field suffices
    const around = [el, el.parentElement, el.closest("form, label, fieldset")].filter(Boolean);
    if (!(caret ? around.some(marked) || el.isContentEditable : marked(el) || (el.parentElement && marked(el.parentElement) && el.parentElement.matches(":focus-within")))) problems.push("nothing marks it");
    return { what, problem: problems.join(", ") };
  });

/** The focus is on something that can be seen, at the latest when transitions have ended. */
async function seen(when) {
  let last;
  await assertSoon(
    async () => {
      last = await focused();
      return !last.body && !last.problem;
    },
    `a visible focus ${when}`,
    5_000,
  ).catch((err) => assert.fail(`${err.message}: ${JSON.stringify(last)}`));
}

/** Presses a key until an element has the focus. */
async function reach(target, key = "Tab") {
  await target.first().waitFor({ state: "attached" });
  const has = () => target.first().evaluate((el) => el === document.activeElement);
  let bodies = 0;
  for (let stops = 0; !(await has()); stops++) {
    assert.ok(stops < MOST, `not reached with ${key}: ${target}`);
    await page.keyboard.press(key);
    const now = await focused();
    if (now.guard) continue;
    if (now.body) assert.ok(++bodies < 3, `${key} toward ${target} leaves the page again and again`); // past the last element, before the first
    else if (now.problem) await seen(`on the way to ${target}`);
  }
  await seen(`at ${target}`);
}

/** Reaches an element and presses Enter. The focus then stays on the page. */
async function press(target, { key = "Tab", with: how = "Enter" } = {}) {
  await reach(target, key);
  await page.keyboard.press(how);
}

const focus = (target) => assertSoon(() => target.first().evaluate((el) => el === document.activeElement || el.contains(document.activeElement)), `the focus is at ${target}`);
const back = (key = "Shift+Tab") => ({ key });
const button = (name, within = page) => within.getByRole("button", { name, exact: typeof name === "string" });
const nav = () => page.getByRole("navigation", { name: "Chats" });

describe("the keyboard alone", () => {
  describe("without a model", () => {
    useStack();
    leaveNoFaults();

    it("first visit, question, citations, reader, edit, versions, menu, other chat, search, settings, library", async () => {
      await arrive();
      await page.goto("/");
      await addDocument(page, "Lighthouse notes", "# Lighthouse notes\n\nThe lighthouse keeper winds the clock every evening at seven. Visitors are welcome on Sundays at noon.\n");
      await page.reload();
      await composer(page).waitFor();
      await focus(composer(page));
      await page.keyboard.type("When does the lighthouse keeper wind the clock, and when are visitors welcome?");
      await page.keyboard.press("Enter");
      const first = await answer(page, 1);
      await focus(composer(page));

      const chips = first.locator("[data-citation]");
      await press(chips, back());
      const next = button("Next citation");
      const close = button(/^Close /);
      await close.first().waitFor();
      await seen("when the reader has opened");
      await press(next);
      await page.getByText(/^Citation 2 of/).waitFor();
      await seen("after the next citation");
      await reach(button(/^Close /, page.locator("aside").last()), "Shift+Tab");
      await page.keyboard.press("Enter");
      await many(button("Next citation"), 0);
      await seen("when the reader was closed");

      await page.keyboard.press("Shift+Escape");
      await focus(composer(page));
      await press(button("Edit message"), back());
      const edited = page.getByRole("textbox", { name: "Edited message" });
      await focus(edited);
      await page.keyboard.press("Control+a");
      await page.keyboard.type("When are visitors welcome at the lighthouse?");
      await page.keyboard.press("Enter");
      await page.getByRole("group", { name: "Versions" }).getByText("2/2").waitFor();
      await answers(page).filter({ hasText: "Sundays" }).waitFor();
      await seen("after the edit");
      await press(button("Previous version"), back());
      await yours(page).filter({ hasText: "wind the clock" }).waitFor();
      await seen("at another version");

      await press(button("Chat options"), back());
      await page.getByRole("menuitem", { name: "Rename" }).waitFor();
      await seen("in the menu");
      await page.keyboard.press("Escape");
      await focus(button("Chat options"));
      await page.keyboard.press("Enter");
      for (let i = 0; i < 2; i++) await page.keyboard.press("ArrowDown");
      await focus(page.getByRole("menuitem", { name: "Share" }));
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: "Share this chat" });
      await dialog.waitFor();
      await seen("in the dialog");
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await seen("after the dialog");

      await press(nav().getByRole("link").or(page.getByRole("link", { name: "New chat" })).or(button("New chat")), back());
      await seen("in a new chat");
      await page.keyboard.press("Shift+Escape");
      await focus(composer(page));
      await page.keyboard.type("How many days a week may employees work remotely?");
      await page.keyboard.press("Enter");
      await answer(page, 1);
      const other = nav().getByRole("link").filter({ hasText: /lighthouse|visitors|clock/i });
      await press(other, back());
      await yours(page).filter({ hasText: /lighthouse/ }).first().waitFor();
      await seen("in the other chat");

      await page.keyboard.press("Control+k");
      const search = page.getByRole("searchbox", { name: "Search chats" });
      await focus(search);
      await seen("in the search");
      await page.keyboard.type("remotely");
      await many(nav().getByRole("link"), 1);
      await press(nav().getByRole("link"));
      await yours(page).filter({ hasText: "remotely" }).first().waitFor();
      await seen("at what was found");

      await press(button("Settings"));
      await page.getByRole("menuitem").first().waitFor();
      await seen("in the settings");
      const about = page.getByRole("menuitem", { name: "About you" });
      await reach(about, "ArrowDown");
      await page.keyboard.press("Enter");
      const you = page.getByRole("dialog", { name: "About you" });
      await you.waitFor();
      await seen("in the form");
      await reach(you.getByRole("textbox").last());
      await page.keyboard.press("Escape");
      await you.waitFor({ state: "detached" });
      await seen("after the form");

      await press(button(/^Library/), back());
      await page.getByRole("tab", { name: "Documents" }).waitFor();
      await seen("in the library");
      await press(button("Open Lighthouse notes"));
      await page.getByRole("region", { name: "Text of Lighthouse notes" }).or(page.getByText("winds the clock every evening").last()).first().waitFor();
      await seen("in a document");
      await page.keyboard.press("Escape");
      await seen("after the document");
    });

    it("a document of a chat is put into the library, and Escape closes only what is on top", async () => {
      await arrive();
      await page.goto("/");
      await page.locator("form input[type=file]").setInputFiles({ name: "Okapi notes.md", mimeType: "text/markdown", buffer: Buffer.from("# Okapi notes\n\nThe okapi is called Bahati.\n") });
      await composer(page).locator(".mention").waitFor();
      await page.keyboard.type("What is the okapi called?");
      await page.keyboard.press("Enter");
      await answer(page, 1);
      await press(button(/^Library/), back());
      await press(button("Put Okapi notes into the library"));
      await page.getByRole("list", { name: "Documents: Yours" }).getByText("Okapi notes").waitFor();
      await seen("after the move");
      await press(button("Rename Okapi notes"));
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("textbox").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await focus(button("Rename Okapi notes"));
      await page.keyboard.press("Escape");
      await many(page.getByRole("tab", { name: "Documents" }), 0);
      await seen("after the library");
    });

    it("a tool is approved", async () => {
      await arrive();
      await page.goto("/");
      await startWithTools(page, "draw a cat in a hat");
      const approve = assist(page).getByRole("button", { name: "Approve", exact: true });
      await approve.waitFor();
      await press(approve, (await focused()).body ? {} : back());
      await assist(page).waitFor({ state: "detached" });
      await answer(page, 1);
      await seen("after the approval");
    });
  });

  describe("with an account", () => {
    let oidc;
    const PIECES = Array.from({ length: 8 }, (_, i) => `Word${i} `);
    useSlowModel(PIECES, 5, async () => {
      oidc = await startOIDC(`http://127.0.0.1:${await freePort()}`);
      return { ...oidc.settings, ADMIN_GROUPS: "admins" };
    });
    after(() => oidc?.stop());
    leaveNoFaults();

    it("sign-in, queue, space with a document, administration", async () => {
      Object.assign(oidc, { login: "ann", groups: ["admins"] });
      await arrive(desktop);
      const keep = faults.push.bind(faults);
      Object.defineProperty(faults, "push", { value: (fault) => (fault.includes(oidc.url) ? faults.length : keep(fault)), configurable: true });
      await page.goto("/");
      await focus(composer(page));
      await press(button("Sign in"), back());
      await press(button(/^Continue with 127\.0\.0\.1/));
      await page.getByRole("link", { name: "Allow" }).press("Enter"); // the provider's page
      await page.waitForURL(`${stack.url}/**`);
      await page.waitForFunction(() => localStorage.getItem("palaver.session"));
      await composer(page).waitFor();

      model.hold = 3;
      await page.keyboard.press("Shift+Escape");
      await focus(composer(page));
      await page.keyboard.type("When is the capital plan submitted?");
      await page.keyboard.press("Enter");
      await writing(page).getByText("Word2").waitFor();
      await focus(composer(page));
      await page.keyboard.type("And who approves the capital plan?");
      await page.keyboard.press("Control+Enter");
      await yours(page).filter({ hasText: "visitors" }).or(page.getByText("And who approves the capital plan?")).first().waitFor();
      await focus(composer(page));
      await page.keyboard.type("Another one");
      await press(button(/^Queue message/));
      await seen("after queueing");
      model.hold = Infinity;
      await answer(page, 3);
      await stop(page).waitFor({ state: "detached" });
      await seen("after the answers");

      const switcher = button(/^Space: /);
      await press(switcher, back());
      const item = page.getByRole("menuitem", { name: "New space…" });
      await reach(item, "ArrowDown");
      await page.keyboard.press("Enter");
      await focus(page.getByLabel("Name", { exact: true }));
      await page.keyboard.type("Legal");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "“Legal” is empty" }).waitFor();
      await seen("in the space");
      await press(switcher, back());
      await reach(page.getByRole("menuitem", { name: "Members…" }), "ArrowDown");
      await page.keyboard.press("Enter");
      const members = page.getByRole("dialog", { name: "Members of “Legal”" });
      await members.waitFor();
      await seen("in the members");
      await reach(members.getByRole("textbox").first());
      await page.keyboard.press("Escape");
      await members.waitFor({ state: "detached" });
      await seen("after the members");
      await upload(page, "Okapi notes.md", "# Okapi notes\n\nThe okapi is called Bahati.\n");
      await ready(page, "Okapi notes");

      await press(button("Your account"), back());
      await reach(page.getByRole("menuitem", { name: "Administration" }), "ArrowDown");
      const opened = context.waitForEvent("page"); // in a tab of its own
      await page.keyboard.press("Enter");
      await (await opened).close();
      await seen("after the menu");
      await page.goto("/admin");
      await page.getByRole("navigation", { name: "Administration" }).waitFor();
      for (const name of ["Usage", "Audit log"]) {
        await press(page.getByRole("navigation", { name: "Administration" }).getByRole("button", { name, exact: true }));
        await page.getByRole("heading", { level: 2, name, exact: true }).waitFor();
        await seen(`at ${name}`);
      }
    });
  });
});
