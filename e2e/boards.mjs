// Discovery boards for the browser tests: a stack with a scripted model, a board, and what is
// pressed on its page.
import assert from "node:assert/strict";
import { after, beforeEach } from "node:test";
import { composer, desktop } from "./browser.mjs";
import { Answer, startModelServer } from "./model-server.mjs";
import { arrive, leaveNoFaults, page, useStack } from "./suite.mjs";

/** The model's answers by words of the message: {say, hold, more, calls, after, cut}. In later calls of the same turn it says "after". */
export const script = new Map();
/** The requests that the model received. */
export const asked = [];
let model;

useStack(async () => {
  model = await startModelServer(async (res, body, fixed) => {
    asked.push(body);
    const user = body.messages.findLast((m) => m.role === "user");
    const text = typeof user?.content === "string" ? user.content : JSON.stringify(user?.content ?? "");
    const [, what] = [...script].find(([words]) => text.includes(words)) ?? [];
    const again = body.messages.at(-1).role === "tool";
    const answer = new Answer(res);
    if (fixed) {
      answer.say(fixed);
      return answer.end();
    }
    for (const piece of again ? [what?.after ?? "Please decide."] : (what?.say ?? ["I have read the board."])) answer.say(piece);
    if (!again) await what?.hold;
    for (const piece of (!again && what?.more) || []) answer.say(piece);
    if (what?.cut && !again) return res.destroy();
    answer.end(again ? undefined : what?.calls);
  });
  return { LLM_BASE_URL: model.url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "scripted", LLM_FIRST_BYTE_TIMEOUT: "120s", LLM_RETRY_BUDGET: "1s" };
});
after(() => model?.stop());

export const CHURN = {
  title: "Why do customers leave?",
  goal: "Find out why churn rose in spring",
  inputs: [
    { input_id: "I-1", title: "Churn report", type: "report", text: "Churn rose from 2.1% to 3.4% between March and June." },
    { input_id: "I-2", title: "Interviews", type: "interview", text: "Twelve customers who left told us that invoices take days to set up." },
  ],
  facts: [
    { fact_id: "F-1", text: "Churn rose from 2.1% to 3.4% in one quarter.", related_inputs: ["I-1"], status: "checked" },
    { fact_id: "F-2", text: "Nine of twelve customers who left never sent an invoice.", related_inputs: ["I-2"] },
    { fact_id: "F-3", text: "Support answers within two days." },
  ],
  insights: [{ insight_id: "N-1", text: "People leave before they have seen any value.", related_facts: ["F-1", "F-2"] }],
  recommendations: [{ recommendation_id: "R-1", text: "Send the first invoice together with the customer.", related_insights: ["N-1"] }],
  outputs: [{ output_id: "O-1", type: "action_plan", text: "Onboarding plan for the third quarter.", related_recommendations: ["R-1"] }],
};

export async function makeBoard(data = CHURN) {
  const made = await page.request.post("/api/discoveries", { data });
  assert.ok(made.ok(), `board rejected: ${made.status()} ${await made.text()}`);
  return (await made.json()).id;
}

export const boardOf = async (id) => (await page.request.get(`/api/discoveries/${id}`)).json();
export const item = (id, on = page) => on.locator(`[data-item="${id}"]`);
export const field = (name, on = page) => on.getByRole("dialog").getByLabel(name, { exact: true });
export const press = (name, on = page) => on.getByRole("button", { name, exact: true });
export const notice = (text) => page.getByRole("region", { name: /^Notifications/ }).getByText(text);
export const menu = async (id, name, on = page) => {
  await press(`Options for ${id}`, on).click();
  await on.getByRole("menuitem", { name, exact: true }).click();
};

export async function openBoard(data) {
  const id = await makeBoard(data);
  await page.goto(`/discovery/${id}`);
  await page.getByRole("group", { name: "Board" }).waitFor();
  return id;
}

export const eachANewPerson = (look = desktop) => {
  beforeEach(async () => {
    script.clear();
    asked.length = 0;
    await arrive(look);
    await page.goto("/discovery");
    await press("New board").waitFor();
  });
  leaveNoFaults();
};

export const chatButton = () => page.getByRole("button", { name: /^(Open|Close) chat/ }).and(page.locator("[aria-expanded]"));
export const panel = () => page.getByRole("dialog", { name: "Chat" });
export const told = (text) => panel().getByRole("article").getByText(text);
export const card = (name) => panel().getByRole("group", { name, exact: true });
export const inCard = (name, button) => card(name).getByRole("button", { name: button, exact: true });
export const state = (name, is) => card(name).and(page.locator(`[data-state=${is}]`)).waitFor();
export const box = (locator) => locator.evaluate((el) => {
  const { x, y, width, height } = el.getBoundingClientRect();
  return { x, y, width, height };
});

export async function openChat(data) {
  const id = await openBoard(data);
  await press("Open chat").click();
  await composer(page).waitFor();
  return id;
}

export async function say(text) {
  await composer(page).fill(text);
  await composer(page).press("Enter");
}

/** Sends a message to which the model answers with proposals. */
export async function propose(...calls) {
  script.set("please", { say: ["I propose this."], calls });
  await say("Do it, please");
}

export const addFact = { name: "add_item", args: { entity_type: "fact", text: "Half of all invoices are late.", related_ids: ["I-2"] } };
export const editFact = { name: "edit_item", args: { entity_type: "fact", item_id: "F-3", new_text: "Support answers within one day." } };
export const deleteFact = { name: "delete_item", args: { entity_type: "fact", item_id: "F-1" } };
