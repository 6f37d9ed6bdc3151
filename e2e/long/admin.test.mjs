// The page of administrators, with people of a real OpenID Connect provider.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { answer, ask, desktop, expectRefusal } from "../browser.mjs";
import { startOIDC } from "../oidc.mjs";
import { freePort } from "../stack.mjs";
import { arrive, context, faults, leaveNoFaults, page, stack, useStack } from "../suite.mjs";

let oidc;
useStack(async () => {
  oidc = await startOIDC(`http://127.0.0.1:${await freePort()}`);
  return { ...oidc.settings, ADMIN_GROUPS: "deputies,admins" };
});
after(() => oidc?.stop());

async function signIn(login, groups, look = desktop) {
  Object.assign(oidc, { login, groups });
  await arrive(look);
  const keep = faults.push.bind(faults); // going to the provider is a request to another host, and meant
  Object.defineProperty(faults, "push", { value: (fault) => (fault.includes(oidc.url) ? faults.length : keep(fault)), configurable: true });
  await page.goto("/");
  const list = page.getByRole("button", { name: "Chats", exact: true });
  if (look.viewport.width < 768) await list.click();
  await page.getByRole("button", { name: "Sign in", exact: true }).first().click();
  await page.getByRole("button", { name: /^Continue with 127\.0\.0\.1/ }).click();
  await page.getByRole("link", { name: "Allow" }).click();
  await page.waitForURL(`${stack.url}/**`);
  await page.waitForFunction(() => localStorage.getItem("palaver.session"));
}

const heading = (name) => page.getByRole("heading", { level: 2, name, exact: true });
const section = async (name) => {
  await page.getByRole("navigation", { name: "Administration" }).getByRole("button", { name, exact: true }).press("Enter");
  await heading(name).waitFor();
};
const table = (name) => page.getByRole("region", { name, exact: true });

describe("the page of administrators", () => {
  leaveNoFaults();

  it("is refused to everybody else, who are not offered it", async () => {
    await signIn("ann", ["staff", "administrators"]);
    await page.getByRole("button", { name: "Your account" }).click();
    await page.getByRole("menuitem", { name: "Usage" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Administration" }).count(), 0);
    expectRefusal(faults, 403);
    await page.goto("/admin");
    await page.getByRole("alert").getByText("Only administrators can see this.").waitFor();
  });

  it("shows people, feedback that was shared, health and every look, by the keyboard", async () => {
    await signIn("bea", ["staff"]);
    await ask(page, "When is the capital plan submitted?");
    await answer(page, 1);
    await page.getByRole("button", { name: "Good answer" }).click();
    await page.getByRole("checkbox", { name: "Let administrators read this question and answer" }).check();
    await page.getByRole("article").getByRole("button", { name: "Send", exact: true }).click();
    await page.getByText("Thank you for your feedback.").first().waitFor();

    await signIn("cleo", ["admins"]);
    await page.getByRole("button", { name: "Your account" }).click();
    const opened = context.waitForEvent("page");
    await page.getByRole("menuitem", { name: "Administration" }).click();
    await (await opened).close();
    await page.goto("/admin");
    await table("People").getByRole("row", { name: /bea@example\.com/ }).waitFor();
    await section("Feedback");
    await page.getByText("Question and answer").last().press("Enter");
    await page.getByText("When is the capital plan submitted?").waitFor();
    await section("Versions and health");
    await page.getByText("The server answers messages.").waitFor();
    await table("Versions and health").getByRole("row", { name: /database ok/ }).waitFor();
    await section("Limits");
    await table("Limits").getByRole("row", { name: /Open streams/ }).first().waitFor();
    for (const name of ["Usage", "Failed documents", "Tool servers"]) {
      await section(name);
      await table(name).or(page.getByText("Nothing here yet.")).waitFor();
    }
    await section("Audit log");
    await table("Audit log").getByText("/api/admin/feedback").first().waitFor();
    await page.reload(); // the section stays
    await heading("Audit log").waitFor();
  });

  for (const colorScheme of ["light", "dark"]) {
    it(`fits a phone, ${colorScheme}`, async () => {
      await signIn("cleo", ["deputies"], { viewport: { width: 375, height: 700 }, colorScheme });
      await page.emulateMedia({ colorScheme }); // the provider's page, of another process, may have ended it
      await page.goto("/admin");
      await table("People").waitFor();
      for (const name of ["Audit log", "Limits", "Versions and health"]) {
        await section(name);
        await table(name).waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than the screen`);
      }
      const hasItsColours = (dark) => {
        const canvas = document.createElement("canvas").getContext("2d");
        canvas.fillStyle = getComputedStyle(document.body).backgroundColor;
        canvas.fillRect(0, 0, 1, 1);
        return canvas.getImageData(0, 0, 1, 1).data[0] < 128 === dark;
      };
      await page.waitForFunction(hasItsColours, colorScheme === "dark");
    });
  }
});
