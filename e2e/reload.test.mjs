// A reload in every state of a conversation: the page shows the same content once,
// and the conversation can continue.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, composer, desktop, expectRefusal, sendButton, shot } from "./browser.mjs";
import { arrive, faults, leaveNoFaults, model, page, stack, useSecondStack, useSlowModel, useStack } from "./suite.mjs";
import { assertSoon, conversation, history, interrupted, many, progress, startWithTools, stop, writing, yours } from "./thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const SECOND = "And what about customer data?";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC", "base64");

leaveNoFaults();

const texts = (of) => of.allTextContents();
const free = () => assertSoon(async () => (await history(page)).active_turn === null, "no turn runs");

describe("a reload while Palaver asks", () => {
  useStack();
  const second = useSecondStack(["Ulaanbaatar ", "is the capital."], 1);

  /** The message for each type of question, and its answer. */
  const questions = {
    action_choice: { say: "Summarize and audit the remote work policy", go: (on) => on.getByRole("button", { name: "Check against rules", exact: true }).click() },
    doc_choice: { say: "Summarize the remote work policy", go: (on) => on.getByRole("button", { name: "All of these" }).click() },
    text_input: { say: "Audit this email", go: () => ask(page, "We work from home on five days a week.") },
    retrieval_low: { say: "zebra quasar xylophone?", go: (on) => on.getByRole("button", { name: "Answer anyway" }).click(), scripted: true },
    tool_approval: { say: "draw a cat in a hat", go: (on) => on.getByRole("button", { name: "Approve" }).click(), tools: true },
  };

  for (const [type, { say, go, tools = false, scripted = false }] of Object.entries(questions)) {
    it(`${type}: the same question is shown, and can be answered or cancelled`, async () => {
      await arrive(desktop, scripted ? second.stack.url : stack.url);
      await page.goto("/");
      const open = async () => {
        if (tools) await startWithTools(page, say);
        else await ask(page, say);
        await assist(page).waitFor();
      };
      await open();
      assert.equal((await history(page)).pending_interrupt.interrupt_type, type);
      const buttons = assist(page).getByRole("button");
      const stood = [await texts(assist(page).getByRole("alert")), await texts(buttons)];
      await page.reload();
      await assist(page).waitFor();
      assert.deepEqual([await texts(assist(page).getByRole("alert")), await texts(buttons)], stood);
      await many(yours(page), 1);
      await many(answers(page), 1); // the progress so far
      const asked = (await history(page)).pending_interrupt.interrupt_id;
      await go(assist(page));
      await assertSoon(async () => (await history(page)).pending_interrupt?.interrupt_id !== asked, "the question is answered");
      const later = assist(page).getByRole("button", { name: /^(Cancel|Stop the answer)$/ });
      await answers(page).or(later).first().waitFor();

      await page.goto("/");
      await open();
      await page.reload();
      await assist(page).waitFor();
      await later.click();
      await assist(page).waitFor({ state: "detached" });
      await free();
    });
  }
});

describe("a reload of a conversation", () => {
  const PIECES = [...Array.from({ length: 30 }, (_, i) => `Word${i} `), "and that is all."];
  const HELD = 8; // number of words that are shown while the model pauses

  useSlowModel(PIECES, 10, () => ({ LLM_RETRY_BUDGET: "1s" }));

  beforeEach(async () => {
    Object.assign(model, { hold: Infinity, failing: false });
    await arrive();
    await page.goto("/");
  });

  const begin = async () => {
    model.hold = HELD;
    await ask(page, QUESTION);
    await writing(page).getByText(`Word${HELD - 1} `).waitFor();
  };
  const waiting = () => page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  const whole = async (n) => (await answer(page, n)).getByText("and that is all.").waitFor();
  const failed = () => conversation(page).getByText("The AI service didn't respond. Try again in a moment.", { exact: true });

  /** How to reach each state, what it shows before and after the reload, and how to continue. */
  const states = {
    "while an answer is written": {
      enter: begin,
      seen: async () => {
        await writing(page).getByText(`Word${HELD - 1} `).waitFor();
        await stop(page).waitFor();
      },
      goOn: async () => {
        model.hold = Infinity;
        await whole(1);
      },
    },
    "before the first word": {
      enter: async () => {
        model.hold = 0;
        await ask(page, QUESTION);
      },
      seen: async () => {
        await progress(page).getByText(/(…|\.\.\.)$/).waitFor();
        await stop(page).waitFor();
      },
      goOn: async () => {
        model.hold = Infinity;
        await whole(1);
      },
    },
    "while a message waits": {
      enter: async () => {
        await begin();
        await composer(page).fill(SECOND);
        await composer(page).press("Control+Enter");
      },
      seen: async () => {
        await waiting().filter({ hasText: SECOND }).waitFor();
        await many(waiting(), 1);
        await writing(page).getByText(`Word${HELD - 1} `).waitFor();
      },
      goOn: async () => {
        model.hold = Infinity;
        await yours(page).filter({ hasText: SECOND }).waitFor();
        await whole(2);
        await many(waiting(), 0);
      },
      messages: 2,
    },
    "after a stop": {
      enter: async () => {
        await begin();
        await stop(page).click();
      },
      seen: async () => {
        await interrupted(page).waitFor();
        await answers(page).getByText(`Word${HELD - 1}`).waitFor();
        await many(stop(page), 0);
      },
      goOn: async () => {
        model.hold = Infinity;
        await ask(page, SECOND);
        await whole(2);
      },
      messages: 2,
    },
    "after a failure": {
      enter: async () => {
        model.failing = true;
        await ask(page, QUESTION);
      },
      seen: async () => {
        await failed().waitFor();
        await many(stop(page), 0);
      },
      goOn: async () => {
        model.failing = false;
        await answers(page).first().hover();
        await page.getByRole("button", { name: "Regenerate" }).click();
        await whole(1);
        await many(failed(), 0);
      },
    },
    "while a refused message counts down": {
      enter: async () => {
        await ask(page, QUESTION);
        await whole(1);
        expectRefusal(faults, 429);
        await page.route("**/api/ui/chat", (route) => route.fulfill({ status: 429, headers: { "Retry-After": "600" }, json: { error: { code: "rate_limited", message: "Too many messages." } } }));
        await ask(page, SECOND);
        await page.getByRole("button", { name: /^Try again in \d+ s$/ }).waitFor();
        await page.unroute("**/api/ui/chat");
      },
      seen: async () => {
        await yours(page).getByText(SECOND).waitFor();
        await many(yours(page), 2);
        await page.getByRole("button", { name: /^Try again/ }).waitFor();
        assert.equal((await history(page)).messages.filter((m) => m.role === "user").length, 1);
      },
      goOn: async () => {
        await page.getByRole("button", { name: "Try again", exact: true }).click();
        await whole(2);
        await page.reload();
        await whole(2);
        await many(page.getByRole("alert"), 0);
      },
      messages: 2,
    },
  };

  for (const [name, { enter, seen, goOn, messages = 1 }] of Object.entries(states)) {
    it(`${name}`, async () => {
      await enter();
      await seen();
      await page.reload();
      await seen();
      await shot(page, `70-reload-${name.replaceAll(" ", "-")}`);
      await goOn();
      await free();
      const all = (await history(page)).messages.filter((m) => m.role === "user");
      assert.equal(all.length, messages, "each message is there once");
      await many(yours(page), messages);
    });
  }

  it("during an upload for the first message: the text stays, and can be sent", async () => {
    await page.route("**/api/attachments", () => {}); // never arrives
    await composer(page).pressSequentially(QUESTION.slice(0, 20));
    await page.locator("form input[type=file]").setInputFiles({ name: "station.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("progressbar", { name: "Uploading station.png" }).waitFor();
    await composer(page).pressSequentially(QUESTION.slice(20));
    await page.reload();
    await composer(page).getByText(QUESTION).waitFor();
    await many(page.getByRole("progressbar"), 0);
    assert.equal(await sendButton(page).isDisabled(), false);
    await composer(page).press("Enter");
    await yours(page).getByText(QUESTION).waitFor();
    await whole(1);
  });
});
