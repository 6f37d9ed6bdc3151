// An import takes longer than the chat waits for it: the chat says so, the page reports
// when the document is ready, and the conversation can use it.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { answer, ask, axe, openDocuments, ready, shot } from "./browser.mjs";
import { DOC, linkTo, startGoogle } from "./google.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";

const WAITS = "1s"; // the default is 30 s

let google;
useStack(async () => {
  google = await startGoogle();
  return { ...google.settings, "--import-wait": WAITS };
});
after(() => google?.stop());
leaveNoFaults();

const said = async (n, text) => (await answer(page, n)).getByText(text).first().waitFor();

it("Import tool timeout: it goes on in the background, and the page says when it is ready", async () => {
  let go;
  const held = new Promise((resolve) => (go = resolve));
  google.files.set(DOC, { name: "Leave policy.md", mime: "text/markdown", text: "# Leave\n\nEvery employee has thirty days of leave in a year.\n", held });
  await arrive();
  await page.goto("/");
  await ask(page, `Please import ${linkTo(DOC)}`);
  await said(1, "The import is taking longer than expected. The document may still be processing in the background.");
  await page.locator("[data-import-state=downloading]").waitFor();
  await shot(page, "9-imports-background");
  assert.deepEqual(await axe(page), []);

  // Document processing incomplete
  await ask(page, "What does it say about leave?");
  await said(2, "That document is still being processed. It should be ready for questions in a moment.");

  go();
  await page.locator("[data-import-state=ready]").waitFor();
  await page.getByRole("region", { name: /^Notifications/ }).getByText("“Leave policy” is ready. You can now ask about it.").waitFor();
  await shot(page, "9-imports-background-ready");
  await openDocuments(page);
  await ready(page, "Leave policy");
  await page.keyboard.press("Escape");
  await ask(page, "How many days of leave does every employee have?");
  await said(3, "thirty days");
  await page.getByText("I've imported 'Leave policy.md' into your knowledge base.").first().waitFor();
  await page.getByRole("button", { name: /^Citation 1: Leave policy/ }).first().waitFor();
  await shot(page, "9-imports-background-known");
});
