// Details that a person notices when they are wrong.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answer, ask, axe, composer, desktop, expectRefusal, messageForm, openDocuments, phone, sendButton, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, page, useStack } from "../suite.mjs";
import { addDocument, many } from "../thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const bad = (name) => ({ name, mimeType: "application/octet-stream", buffer: Buffer.from([0, 1, 2]) });

useStack();
leaveNoFaults();

const open = async (look = desktop, path = "/") => {
  await arrive(look);
  await page.goto(path);
};
const box = (locator) => locator.boundingBox();
const apart = (a, b) => a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;

describe("the keyboard", () => {
  it("Ctrl+K goes to the search of chats, also on a narrow page and beside an open library", async () => {
    await open();
    const search = () => page.getByRole("searchbox", { name: "Search chats" });
    const focused = () => search().and(page.locator(":focus")).waitFor();
    await openDocuments(page);
    await page.keyboard.press("ControlOrMeta+k");
    await focused();

    await open({ ...desktop, viewport: { width: 600, height: 800 } });
    await composer(page).focus();
    await page.keyboard.press("ControlOrMeta+k");
    await focused();
    await page.keyboard.type("x");
    assert.equal(await search().inputValue(), "x");
  });

  it("does not send an @ alone", async () => {
    await open();
    await composer(page).pressSequentially("@");
    await page.keyboard.press("Escape"); // closes the list
    assert.equal(await messageForm(page).getByRole("button", { name: "Send" }).isDisabled(), true);
    await page.keyboard.press("Enter");
    assert.equal(new URL(page.url()).pathname, "/");
    await composer(page).pressSequentially("a");
    assert.equal(await sendButton(page).isEnabled(), true);
  });
});

it("an unknown address shows an error page, from which a chat can be started", async () => {
  await arrive();
  expectRefusal(faults, 404);
  const res = await page.goto("/no/such/page");
  assert.equal(res.status(), 404);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  assert.deepEqual(await axe(page), []);
  await shot(page, "160-unknown-address");
  await page.getByRole("button", { name: "Start a new chat" }).click();
  assert.equal(new URL(page.url()).pathname, "/");
  await composer(page).waitFor();
});

it("many refused files are one alert", async () => {
  await open();
  expectRefusal(faults, 415);
  await page.locator("form input[type=file]").setInputFiles([bad("a.bin"), bad("b.bin"), bad("c.bin")]);
  await page.getByRole("alert").filter({ hasText: "3 files were not added." }).waitFor();
  await many(page.getByRole("alert"), 1);
  await many(page.getByRole("list", { name: "Attachments" }).getByRole("listitem"), 3);
});

it("notices cover nothing that can be pressed", async () => {
  for (const look of [desktop, phone]) {
    await open(look);
    const id = await addDocument(page, "Soon gone", "A text.");
    assert.ok(id);
    await page.reload();
    await openDocuments(page);
    const remove = page.getByRole("button", { name: "Delete Soon gone" });
    await remove.click();
    if (look === phone) await page.keyboard.press("Escape"); // closes the drawer
    const notice = page.getByText("“Soon gone” was deleted.");
    await notice.waitFor();
    const shape = await box(page.getByRole("region", { name: "Notifications" }).locator("div").filter({ has: notice }).first());
    await shot(page, `161-notice-${look === phone ? "phone" : "desktop"}`);
    const buttons = await page.evaluate(() =>
      [...document.querySelectorAll("button, a")]
        .filter((el) => el.checkVisibility() && !el.closest("[aria-label=Notifications]"))
        .map((el) => ({ html: el.innerHTML, at: el.getBoundingClientRect().toJSON() })),
    );
    assert.ok(buttons.length > 5);
    for (const { html, at } of buttons) assert.ok(apart(at, shape), `${html} is covered`);
  }
});

it("targets are at least 44 px high on a touch screen, except links within text, and 24 px elsewhere", async () => {
  for (const [look, least] of [[phone, 44], [desktop, 24]]) {
    await open(look);
    await ask(page, QUESTION).catch(() => {});
    await answer(page, 1);
    const small = await page.evaluate((least) => {
      const hit = (el) => {
        const { width, height } = el.getBoundingClientRect();
        const after = getComputedStyle(el, "::after");
        const grow = (a, b) => (after.content !== "none" && after.position === "absolute" ? -(parseFloat(a) || 0) - (parseFloat(b) || 0) : 0);
        return [width + grow(after.left, after.right), height + grow(after.top, after.bottom)];
      };
      return [...document.querySelectorAll("button, a[href], [role=button]")]
        .filter((el) => el.checkVisibility() && !(least === 44 && el.matches("[data-citation]")) && !el.closest(".sr-only") && !el.classList.contains("sr-only") && getComputedStyle(el).display !== "inline")
        .map((el) => [el.getAttribute("aria-label") ?? el.textContent, ...hit(el)])
        .filter(([, w, h]) => w > 1 && (w < (least === 44 ? 24 : least) - 0.5 || h < least - 0.5));
    }, least);
    assert.deepEqual(small, []);
  }
});
