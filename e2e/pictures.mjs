// Takes the README's screenshots again from the running product: node pictures.mjs
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { answer, ask, assist, newPage, startBrowser, still } from "./browser.mjs";
import { mcpSettings, startMCPServer } from "./mcp-server.mjs";
import { startSlowModel } from "./slow-model.mjs";
import { startStack } from "./stack.mjs";
import { startWithTools } from "./thread.mjs";

const FOLDER = fileURLToPath(new URL("../docs/images/", import.meta.url));
const QUESTION = "What does the circular say about the liquidity coverage ratio?";
const wide = { viewport: { width: 1280, height: 760 }, deviceScaleFactor: 2, colorScheme: "light" };
const small = { viewport: { width: 390, height: 780 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true, colorScheme: "dark" };

const TICKET = {
  name: "create_ticket",
  description: "Opens a ticket in the tracker and tells its assignee by email.",
  annotations: { readOnlyHint: false, destructiveHint: false },
  inputSchema: {
    type: "object",
    properties: {
      title: { type: "string", maxLength: 80, description: "One line that says what is wrong" },
      priority: { enum: ["low", "normal", "urgent"] },
      due_date: { type: "string", format: "date" },
      notify: { type: "boolean", default: true },
    },
    required: ["title", "priority"],
  },
};

/** Writes the page as WebP, which a canvas encodes. */
async function picture(browser, page, name) {
  await still(page);
  const png = (await page.screenshot({ animations: "disabled" })).toString("base64");
  const encoder = await browser.newPage();
  const webp = await encoder.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8).split(",")[1];
  }, png);
  await encoder.close();
  const bytes = Buffer.from(webp, "base64");
  await writeFile(`${FOLDER}${name}.webp`, bytes);
  console.log(`${name}.webp: ${Math.round(bytes.length / 1000)} kB`);
}

async function answers(browser) {
  const stack = await startStack();
  try {
    const { page, context } = await newPage(browser, stack.url, wide);
    await page.goto("/");
    await ask(page, QUESTION);
    const chip = (await answer(page, 1)).locator("[data-citation]").first();
    await chip.hover();
    await page.waitForTimeout(800); // the preview opens after a delay
    await picture(browser, page, "answer");
    await chip.click();
    await page.locator("mark").first().waitFor();
    await page.mouse.move(5, 5);
    await page.waitForTimeout(500);
    await picture(browser, page, "reader");
    await context.close();
    const pocket = await newPage(browser, stack.url, small);
    await pocket.page.goto("/");
    await ask(pocket.page, QUESTION);
    await answer(pocket.page, 1);
    await picture(browser, pocket.page, "phone-dark");
    await pocket.context.close();
  } finally {
    await stack.stop();
  }
}

async function approval(browser) {
  const model = await startSlowModel(["I'll open a ticket for the leak."], 1);
  const tracker = await startMCPServer([TICKET], () => "T-7");
  const stack = await startStack({ ...model.settings, ...mcpSettings("tracker", tracker) });
  try {
    const { page } = await newPage(browser, stack.url, wide);
    await page.goto("/");
    do { // until the server knows the tool
      model.calls = [[{ name: "tracker__create_ticket", args: { title: "The pump in the cellar leaks", priority: "urgent" } }]];
      await startWithTools(page, "The pump in the cellar leaks. Please report it.");
      await page.getByText("I'll open a ticket").first().waitFor();
    } while ((await assist(page).count()) === 0);
    await picture(browser, page, "approval-form");
  } finally {
    await stack.stop();
    await tracker.stop();
    await model.stop();
  }
}

await mkdir(FOLDER, { recursive: true });
const browser = await startBrowser();
try {
  await answers(browser);
  await approval(browser);
} finally {
  await browser.close();
}
