// The composer chooses the agent of each message, and answers name it. While a picture is
// drawn, a placeholder stands in for it.
import assert from "node:assert/strict";
import { beforeEach, it } from "node:test";
import { answer, answers, ask, assist, axe, phone, shot } from "../browser.mjs";
import { gate } from "../model-server.mjs";
import { arrive, leaveNoFaults, model, page, useSlowModel } from "../suite.mjs";
import { addDocument, assertSoon, conversation, many, startWithTools, writing, yours } from "../thread.mjs";

leaveNoFaults();

const PIECES = ["The clock ", "is wound ", "at seven."];
useSlowModel(PIECES, 1, () => ({ IMAGE_MODEL_NAME: "painter" }));

beforeEach(async () => {
  Object.assign(model, { pieces: PIECES, hold: Infinity, calls: [], drawing: undefined });
});

const menu = (agent) => page.getByRole("button", { name: `Mode: ${agent}` });
async function choose(from, to) {
  await menu(from).click();
  await page.getByRole("menuitemradio", { name: to }).click();
  await menu(to).waitFor();
}
const posts = () => {
  const all = [];
  page.on("request", (r) => r.method() === "POST" && new URL(r.url()).pathname === "/api/ui/chat" && all.push(r.postDataJSON()));
  return all;
};

it("the agent can be changed within a conversation, and answers name it where it changes", async () => {
  await arrive();
  await page.goto("/");
  await addDocument(page, "Lighthouse notes", "The lighthouse keeper winds the clock every evening at seven.");
  const sent = posts();
  await ask(page, "When does the lighthouse keeper wind the clock?");
  await answer(page, 1);
  await choose("Document answers", "Assistant");
  await ask(page, "Thank you. Tell me a joke.");
  await answer(page, 2);
  await ask(page, "Another one, please.");
  await answer(page, 3);
  assert.deepEqual(sent.map((b) => b.agent), ["documents", "assistant", "assistant"]);
  const names = async () => Promise.all((await answers(page).all()).map(async (a) => (await a.getByText(/^\s*(Assistant|Document answers)\s*$/).allTextContents()).join().trim()));
  assert.deepEqual(await names(), ["", "Assistant", ""]);
  await shot(page, "170-agent-changed");
  assert.deepEqual(await axe(page), []);
  await page.reload();
  await menu("Assistant").waitFor();
  assert.deepEqual(await names(), ["", "Assistant", ""]);

  // An edited message keeps the agent of its turn.
  const mine = yours(page).filter({ hasText: "When does" });
  await mine.hover();
  await mine.getByRole("button", { name: "Edit message" }).click();
  await page.getByRole("textbox", { name: "Edited message" }).fill("When does the keeper wind the clock?");
  await page.getByRole("textbox", { name: "Edited message" }).press("Enter");
  await assertSoon(() => sent.length === 4, "the edited message is sent");
  assert.equal(sent[3].agent, "documents");
  await answer(page, 1);
  await menu("Document answers").waitFor();
});

it("the menu of agents fits a phone", async () => {
  await arrive(phone);
  await page.goto("/");
  await addDocument(page, "Lighthouse notes", "The lighthouse keeper winds the clock every evening at seven.");
  await startWithTools(page, "Tell me a joke.");
  await answer(page, 1);
  await menu("Assistant").tap();
  await page.getByRole("menuitemradio", { name: "Document answers" }).tap();
  await ask(page, "When does the lighthouse keeper wind the clock?");
  await answer(page, 2);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the screen");
  await shot(page, "171-agent-phone");
  assert.deepEqual(await axe(page), []);
});

it("a placeholder in the picture's shape is shown until the picture is drawn", async () => {
  await arrive();
  await page.goto("/");
  model.drawing = gate();
  model.pieces = ["Let me draw."];
  model.calls = [[{ name: "generate_image", args: { prompt: "A lighthouse at night, with a wide sea", size: "1536x1024" } }]];
  await startWithTools(page, "Draw a lighthouse");
  await assist(page).getByText("Draws an image from a description. This may cost money.").waitFor();
  await shot(page, "172-drawing-asks");
  await assist(page).getByRole("button", { name: "Approve" }).click();
  const place = conversation(page).getByRole("img", { name: "The image is being generated" });
  await place.waitFor();
  const { width, height } = await place.boundingBox();
  assert.ok(Math.abs(width / height - 1.5) < 0.02, `${width} by ${height}`);
  await writing(page).getByText("A lighthouse at night, with a wide sea").last().waitFor();
  await writing(page).getByText("1536 × 1024").waitFor();
  await shot(page, "173-drawing");
  assert.deepEqual(await axe(page), []);
  model.drawing.open();
  await many(place, 0);
  await many(conversation(page).locator("img[src^='/api/attachments/']"), 1);
  await answer(page, 1);
  await many(conversation(page).locator("img[src^='/api/attachments/']"), 1);
});
