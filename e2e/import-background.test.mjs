// An import takes longer than the chat waits for it.
import { after, beforeEach, describe, it } from "node:test";
import { answer, ask, composer, openDocuments, ready } from "./browser.mjs";
import { DOC, linkTo, startGoogle } from "./google.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";

let google;
useStack(async () => {
  google = await startGoogle();
  return { ...google.settings, "--import-wait": "1s" };
});
after(() => google?.stop());

describe("an import in the background", () => {
  beforeEach(async () => {
    await arrive();
    await page.goto("/");
    await composer(page).waitFor();
  });
  leaveNoFaults();

  it("Import tool timeout, Document processing incomplete: the chat goes on, and the page shows when it is ready", async () => {
    let go;
    google.files.set(DOC, { name: "Leave policy.md", mime: "text/markdown", text: "Every employee has thirty days of leave in a year.", held: new Promise((resolve) => (go = resolve)) });
    await ask(page, `Please import ${linkTo(DOC)}`);
    await (await answer(page, 1)).getByText("The import is taking longer than expected. The document may still be processing in the background.").last().waitFor();
    await page.locator("[data-import-state=downloading]").waitFor();
    await ask(page, "What does the document say?");
    await (await answer(page, 2)).getByText("That document is still being processed. It should be ready for questions in a moment.").waitFor();
    go();
    await page.locator("[data-import-state=ready]").waitFor();
    await openDocuments(page);
    await ready(page, "Leave policy");
    await page.keyboard.press("Escape");
    await ask(page, "How many days of leave does every employee have?");
    await page.getByText("I've imported 'Leave policy' into your knowledge base. You can now ask me questions about it.").waitFor();
    await (await answer(page, 3)).getByText("thirty days").first().waitFor();
  });
});
