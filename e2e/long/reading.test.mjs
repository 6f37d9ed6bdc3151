// Reading a conversation: stable scroll position, chunks that fail to load, text
// direction, tables, citations, and phones.
import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { answer, answers, ask, assist, axe, composer, desktop, mention, phone, shot } from "../browser.mjs";
import { arrive, faults, leaveNoFaults, page, useSecondStack, useStack } from "../suite.mjs";
import { assertSoon, conversation, history, many, startWithTools, writing, yours } from "../thread.mjs";

const QUESTION = "How many days a week may employees work remotely?";
const POLICY = "Remote Work and Customer Data Policy 2025";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

useStack();
leaveNoFaults();

/** Removes the faults of requests that the test made fail, also those that the page repeats. */
function provoked(words) {
  const keep = faults.push.bind(faults);
  Object.defineProperty(faults, "push", { value: (fault) => (words.test(fault) ? faults.length : keep(fault)), configurable: true });
  faults.splice(0, faults.length, ...faults.filter((f) => !words.test(f)));
}

describe("a chunk that fails to load", () => {
  const failed = () => page.getByText("This part of the page couldn't be shown.");
  const withhold = (name) => page.route(`**/${name}-*.js`, (route) => route.abort());
  const stillHere = async () => {
    await failed().waitFor();
    await answer(page, 1);
    await composer(page).fill("Still here");
    await composer(page).getByText("Still here").waitFor();
    provoked(/ERR_FAILED|Failed to fetch dynamically|This part of the page failed/);
  };

  beforeEach(async () => {
    await arrive();
    await page.goto("/");
  });

  it("behind a citation says so beside the conversation", async () => {
    await withhold("Reader");
    await ask(page, QUESTION);
    await (await answer(page, 1)).locator("[data-citation]").first().click();
    await page.getByRole("complementary").and(page.locator("aside", { has: failed() })).waitFor();
    await stillHere();
  });

  it("behind a document's pill says so beside the conversation", async () => {
    await withhold("Reader");
    await mention(page, "Summarize");
    await mention(page, POLICY);
    await composer(page).press("Enter");
    await answer(page, 1);
    await yours(page).getByRole("button", { name: POLICY }).click();
    await page.locator("aside", { has: failed() }).waitFor();
    await stillHere();
  });

  it("of a tool's card says so in the card", async () => {
    await withhold("ToolDetails");
    await pretend([told(1, "Look"), said(1, "Found.", [{ type: "tool-look", toolCallId: "c1", state: "output-available", input: {}, output: "it" }])]);
    const card = page.getByRole("group", { name: "Tool look" });
    await card.getByRole("button").click();
    await card.filter({ has: failed() }).waitFor();
    await stillHere();
  });

  it("for Markdown leaves the text unformatted", async () => {
    await withhold("Markdown");
    await pretend([told(1, "Look"), said(1, "These are **bold** words.")]);
    await (await answer(page, 1)).getByText("These are **bold** words.").waitFor();
    provoked(/ERR_FAILED/);
  });
});

/** Mocks a thread with several versions, atOnce messages per page. versions maps the id of each end to its messages, newest version first. */
async function pretend(versions, branches = {}, atOnce = 40) {
  if (Array.isArray(versions)) versions = { "": versions };
  const newest = Object.values(versions)[0];
  const id = crypto.randomUUID();
  await page.route(`**/api/ui/chat/${id}?*`, (route) => {
    const { searchParams: asked } = new URL(route.request().url());
    const messages = asked.has("head") ? versions[asked.get("head")] : newest;
    const before = asked.get("before");
    const end = before ? messages.findIndex((m) => m.id === before) : messages.length;
    const from = Math.max(0, end - atOnce);
    return route.fulfill({ json: { id, messages: messages.slice(from, end), more: from > 0 } });
  });
  await page.route(`**/api/chat/history/${id}?*`, (route) =>
    route.fulfill({ json: { thread_id: id, messages: [{ turn_id: newest.at(-1).metadata.turn_id }], pending_interrupt: null, active_turn: null, branches } }),
  );
  await page.route(`**/api/chat/stream/${id}?*`, () => {}); // never answered: no events from other tabs
  await page.route(`**/api/conversations/${id}`, (route) => route.fulfill({ json: { id, title: "Pretended", created_at: new Date().toISOString() } }));
  await page.goto(`/chat/${id}`);
}

const told = (turn, text) => ({ id: `${turn}.u`, role: "user", metadata: { turn_id: `${turn}` }, parts: [{ type: "text", text }] });
const said = (turn, text, more = []) => ({ id: `${turn}`, role: "assistant", metadata: { turn_id: `${turn}`, finished_reason: "stop" }, parts: [...more, { type: "text", text, state: "done" }] });
const exchanges = (name, from, to, words = 1) => {
  const out = [];
  for (let i = from; i < to; i++) out.push(told(`${name}${100 + i}`, `Question ${name} ${i}?`), said(`${name}${100 + i}`, `Answer ${name} ${i}. ${"Some words that fill a line. ".repeat(words)}`));
  return out;
};

describe("a reader who has scrolled up", () => {
  const LINES = Array.from({ length: 20 }, (_, i) => `Line ${i}.\n\n`);
  const TOP = 40;
  const slow = useSecondStack(LINES, 2);

  const top = () => conversation(page).evaluate((el) => el.scrollTop);

  it("stays there when a queued message begins or another tab sends one; an own message is shown", async () => {
    await arrive(desktop, slow.stack.url);
    await page.goto("/");
    await startWithTools(page, "First");
    await answer(page, 1);
    slow.model.hold = 1;
    await ask(page, "Second");
    await writing(page).getByText("Line 0.").waitFor();
    await composer(page).fill("Third");
    await composer(page).press("Control+Enter");
    const waits = page.getByRole("list", { name: "Queued messages" }).getByText("Third");
    await waits.waitFor();
    await assertSoon(async () => (await history(page)).messages.some((m) => m.content === "Third"), "the server has the third");
    await conversation(page).evaluate((el, to) => (el.scrollTop = to), TOP);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    slow.model.hold = Infinity;
    await yours(page).filter({ hasText: "Third" }).waitFor({ state: "attached" });
    await many(answers(page), 3);
    assert.equal(await top(), TOP);

    const id = page.url().split("/").at(-1);
    const data = { id, agent: "assistant", message: { id: "m4", role: "user", parts: [{ type: "text", text: "Fourth" }] } };
    assert.ok((await page.request.post("/api/ui/chat", { data })).ok());
    await yours(page).filter({ hasText: "Fourth" }).waitFor({ state: "attached" });
    await many(answers(page), 4);
    assert.equal(await top(), TOP);

    await ask(page, "Fifth");
    await many(answers(page), 5);
    await assertSoon(() => yours(page).filter({ hasText: "Fifth" }).evaluate((el) => el.getBoundingClientRect().bottom < innerHeight), "the message that was sent here is in view");
  });
});

describe("a version that is picked", () => {
  const shared = exchanges("s", 0, 30);
  // The newer version has few messages after it. The older has more than one page of them, longer ones, and another first one.
  const newer = exchanges("b", 0, 8);
  const older = exchanges("a", 0, 40, 12);
  older[0].parts[0].text = "A question\n".repeat(6);
  const branches = { s129: ["a100", "b100"] };
  const follow = (list) => {
    const turns = list.filter((m) => m.role === "assistant").map((m) => m.id);
    turns.slice(1).forEach((turn, i) => (branches[turns[i]] = [turn]));
  };
  [shared, newer, older].forEach(follow);
  branches.root = ["s100"];

  const picker = () => page.getByRole("group", { name: "Versions" });
  const press = (name) => picker().getByRole("button", { name }).click();
  /** The picker's position now, and when it was pressed. */
  const places = () => picker().evaluate((el) => [el.getBoundingClientRect().top, window.pressedAt]);
  const stays = () =>
    assertSoon(async () => {
      const [now, then] = await places();
      return Math.abs(now - then) <= 2;
    }, "the picker is where it was pressed");

  beforeEach(async () => {
    await arrive();
    await page.addInitScript(() => addEventListener("click", (e) => (window.pressedAt = e.target.closest("[data-versions]")?.getBoundingClientRect().top), true));
    await pretend({ b107: [...shared, ...newer], a139: [...shared, ...older] }, branches);
    await conversation(page).getByText("Answer b 7.").waitFor();
    // Scrolls with the wheel, so that the list does not return to its end.
    await conversation(page).hover();
    await page.mouse.wheel(0, -300);
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    await picker().hover();
  });

  it("stays where the picker was pressed, and so does the focus, whatever comes after it", async () => {
    await press("Previous version");
    await picker().getByText("1/2").waitFor();
    await picker().getByRole("button", { name: "Next version" }).and(page.locator(":focus")).waitFor();
    await stays();
    await conversation(page).getByText("Answer a 0.").waitFor();
    await page.keyboard.press("Enter");
    await picker().getByText("2/2").waitFor();
    await picker().getByRole("button", { name: "Previous version" }).and(page.locator(":focus")).waitFor();
    await stays();
    await shot(page, "67-picked");
  });

  it("closes the editor of a message that is not shown any more", async () => {
    const mine = yours(page).filter({ hasText: "Question b 1?" });
    await mine.hover();
    await mine.getByRole("button", { name: "Edit message" }).click();
    await page.getByRole("textbox", { name: "Edited message" }).waitFor();
    await press("Previous version");
    await picker().getByText("1/2").waitFor();
    await many(page.getByRole("form", { name: "Edit message" }), 0);
    await press("Next version");
    await picker().getByText("2/2").waitFor();
    await mine.waitFor();
    await many(page.getByRole("form", { name: "Edit message" }), 0);
  });
});

describe("a message of pictures alone", () => {
  it("can be edited", async () => {
    await arrive();
    await page.goto("/");
    await page.locator("form[aria-label=Message] input[type=file]").setInputFiles({ name: "plan.png", mimeType: "image/png", buffer: PNG });
    await page.getByRole("list", { name: "Attachments" }).locator("img").waitFor();
    await page.getByRole("button", { name: /^Send/ }).click();
    const mine = yours(page);
    await mine.locator("img").waitFor();
    await assertSoon(async () => (await history(page)).active_turn?.status !== "running", "it was answered, or asks");
    const cancel = page.getByRole("button", { name: "Cancel", exact: true });
    const again = mine.getByRole("button", { name: "Edit message" }).and(page.locator(":enabled"));
    await again.or(cancel).first().waitFor();
    await again.click();
    const box = page.getByRole("textbox", { name: "Edited message" });
    await box.and(page.locator(":focus")).waitFor();
    await box.fill(QUESTION);
    await page.keyboard.press("Enter");
    await mine.getByText(QUESTION).waitFor();
    await mine.locator("img").waitFor();
    await assertSoon(async () => {
      const last = (await history(page)).messages.findLast((m) => m.role === "user");
      return last.content === QUESTION && last.metadata.attachments?.length === 1;
    }, "the server has the picture with the words");
  });
});

describe("right-to-left text", () => {
  it("has this direction in lists, quotes and tables, but not in code", async () => {
    await arrive();
    const written = ["فقرة أولى.", "- بند\n- بند آخر", "> اقتباس", "> A quote", "| عمود | آخر |\n| --- | --- |\n| قيمة | أخرى |", "`code()` ثم كلمات", "```\nx = 1 // تعليق\n```", "English words."].join("\n\n");
    const source = { type: "source-document", sourceId: "s1", mediaType: "text/plain", title: "عنوان", providerMetadata: { palaver: { n: 1, quote: "اقتباس", doc_id: "d" } } };
    await pretend([told(1, "مرحبا, how are you?"), said(1, written, [source])]);
    const got = await answer(page, 1);
    await got.getByText("English words.").waitFor();
    await got.locator("table").waitFor();
    const direction = (locator) => locator.evaluate((el) => getComputedStyle(el).direction);
    for (const part of ["p:has-text('فقرة')", "ul", "blockquote", "table", "p:has-text('ثم')"]) assert.equal(await direction(got.locator(`.answer ${part}`).first()), "rtl", part);
    for (const part of ["pre", "pre code", "p code", "p:has-text('English')"]) assert.equal(await direction(got.locator(`.answer ${part}`).first()), "ltr", part);
    assert.equal(await direction(yours(page).locator("p").first()), "rtl");
    assert.equal(await direction(got.getByText("عنوان")), "rtl");
    const sides = (part, n = 0) =>
      got.locator(`.answer ${part}`).nth(n).evaluate((el) => {
        const { paddingLeft, paddingRight, borderLeft, borderRight } = getComputedStyle(el);
        return { left: [paddingLeft, borderLeft], right: [paddingRight, borderRight] };
      });
    const list = await sides("ul");
    assert.equal(list.left[0], "0px");
    assert.notEqual(list.right[0], "0px");
    const [arabic, english] = [await sides("blockquote"), await sides("blockquote", 1)];
    assert.match(english.left[1], /^3px/);
    assert.deepEqual(arabic.right, english.left);
    assert.equal(arabic.left[0], "0px");
    assert.match(arabic.left[1], /^0px/);
    await shot(page, "68-right-to-left");
  });
});

describe("an answer", () => {
  const cell = (n) => `| ${Array(n).fill("---").join(" | ")} |`;
  const WIDE = [
    "| Item | 2021 | 2024 | Change | Who is affected | Since | Notes |",
    cell(7),
    "| Rent | 1,050 € | 1,240 € | +18 % | Tenant | January 2024 | The rent rose once, when the new lease began, and is fixed for three years from then on. |",
    "| Deposit | 2 months | 3 months | +1 | Tenant | January 2024 | Returned within 60 days after the end of the lease. |",
  ].join("\n");
  const SENTENCES = ["| A | B | C | D | E |", cell(5), `|${" Some words that make a sentence of a cell. |".repeat(5)}`].join("\n");
  const SMALL = "| A | B |\n| --- | --- |\n| 1 | 2 |";
  const table = (n) => answers(page).locator(".table-scroll").nth(n);
  const room = (locator) => locator.evaluate((el) => [el.clientWidth, el.scrollWidth]);

  it("shows wide tables whole if they fit, else a scroll hint; small tables stay small", async () => {
    await arrive();
    await pretend([told(1, "Compare"), said(1, [WIDE, SMALL, SENTENCES].join("\n\n"))]);
    await table(2).waitFor();
    await shot(page, "70-tables");
    const [inside, whole] = await room(table(0));
    assert.equal(whole, inside, "seven columns fit");
    assert.ok((await room(table(1)))[0] < 250, "two short columns are not stretched");
    await page.setViewportSize({ width: 390, height: 844 });
    await assertSoon(async () => (await room(table(0)))[1] > (await room(table(0)))[0], "now it is wider than the page");
    const widths = await table(2).locator("td").evaluateAll((cells) => cells.map((c) => c.offsetWidth));
    assert.ok(Math.min(...widths) >= 120, `sentences can be read: ${widths}`);
    await shot(page, "71-tables-narrow");
    await table(0).focus();
    await page.keyboard.press("ArrowRight");
    await assertSoon(() => table(0).evaluate((el) => el.scrollLeft > 0), "it is scrolled by keyboard");
    assert.deepEqual(await axe(page), []);
  });

  it("has check boxes instead of bullets, and shows the language of code", async () => {
    await arrive();
    await pretend([told(1, "Steps?"), said(1, "- [x] sign\n- [ ] pay\n\n```sql\nselect 1\n```\n\n```\nbare\n```")]);
    const item = answers(page).getByRole("listitem").filter({ hasText: "sign" });
    await item.getByRole("checkbox", { name: "Done" }).waitFor();
    assert.equal(await item.evaluate((el) => getComputedStyle(el).listStyleType), "none");
    const code = answers(page).getByRole("group", { name: "Code" });
    await answers(page).getByText("sql", { exact: true }).waitFor();
    assert.equal(await code.first().textContent(), "select 1\n");
    await shot(page, "72-tasks-and-code");
    assert.deepEqual(await axe(page), []);
  });

  it("is announced to screen readers as ready, and is not read out", async () => {
    await arrive();
    await page.goto("/");
    await ask(page, QUESTION);
    const heard = page.locator("[data-announcer]");
    await assertSoon(async () => (await heard.textContent()) !== "", "the answer is announced");
    assert.equal(await heard.textContent(), "Answer ready");
  });
});

describe("a citation", () => {
  const quoted = (n) => ({ type: "source-document", sourceId: `s${n}`, mediaType: "text/plain", title: `Source ${n}`, providerMetadata: { palaver: { n, quote: "words", doc_id: "d" } } });

  it("stays on one line with the word before it and the full stop after it, in any width", async () => {
    await arrive();
    await pretend([told(1, "Rent?"), said(1, "The lease replaces the one of 2021 [1]. Rent rose by eighteen percent[2], as agreed.", [quoted(1), quoted(2)])]);
    const got = await answer(page, 1);
    await got.locator("[data-citation]").nth(1).waitFor();
    const apart = await got.locator(".answer").evaluate((el) => {
      const range = document.createRange();
      const at = (node, i) => {
        range.setStart(node, i);
        range.setEnd(node, i + 1);
        return range.getBoundingClientRect();
      };
      const apart = [];
      for (let width = 120; width <= 600; width++) {
        el.style.width = `${width}px`;
        for (const chip of el.querySelectorAll("[data-citation]")) {
          const middle = chip.getBoundingClientRect();
          const beside = [at(chip.previousSibling, 0), at(chip.nextSibling, 0)];
          const far = beside.some((r) => Math.abs(r.top + r.bottom - middle.top - middle.bottom) > 20); // lines are 24 px apart
          if (far) apart.push([width, chip.textContent]);
        }
      }
      return apart;
    });
    assert.deepEqual(apart, []);
    assert.match(await got.textContent(), /of 2021\u00a01\. Rent rose by eighteen percent2, as agreed\./);
  });

  it("has a touch target larger than its number", async () => {
    await arrive(phone);
    await pretend([told(1, "Rent?"), said(1, "It rose [1][2].", [quoted(1), quoted(2)])]);
    const first = answers(page).locator("[data-citation='1']");
    await first.waitFor();
    const hit = (n, dx, dy) =>
      answers(page).locator(`[data-citation='${n}']`).evaluate((el, [dx, dy]) => {
        const { left, right, top, bottom } = el.getBoundingClientRect();
        return document.elementFromPoint((left + right) / 2 + dx, dy < 0 ? top + dy : dy > 0 ? bottom + dy : (top + bottom) / 2)?.textContent;
      }, [dx, dy]);
    for (const n of [1, 2]) for (const dy of [-8, 0, 8]) assert.equal(await hit(n, 0, dy), `${n}`, `${dy} px off ${n}`);
  });

  it("stays in place when it is opened and when its panel is closed", async () => {
    await arrive();
    const words = "Some words that fill more than a line in any width that a conversation has on a screen, and a few more for good measure. ".repeat(3);
    const paragraphs = Array.from({ length: 30 }, (_, i) => `Paragraph ${i}. ${words}${i === 15 ? "[1]" : ""}`).join("\n\n");
    await pretend([told(1, "Rent?"), said(1, paragraphs, [quoted(1)]), ...exchanges("x", 0, 10, 12)]);
    await conversation(page).getByText("Answer x 9.").waitFor();
    const chip = answers(page).locator("[data-citation='1']").first();
    await conversation(page).hover();
    await assertSoon(async () => {
      await page.mouse.wheel(0, -1000);
      return (await chip.count()) > 0;
    }, "the citation is in the page");
    await page.getByRole("button", { name: "Jump to latest" }).waitFor();
    const width = () => conversation(page).evaluate((el) => el.clientWidth);
    const wide = await width();
    await chip.evaluate((el) => {
      el.scrollIntoView({ block: "center" });
      addEventListener("pointerdown", () => (window.pressedAt = el.getBoundingClientRect().top), true);
    });
    await chip.click();
    const moved = () => chip.evaluate((el) => Math.abs(el.getBoundingClientRect().top - window.pressedAt));
    await page.getByRole("complementary", { name: "Source 1" }).waitFor();
    await assertSoon(async () => (await width()) < wide && (await moved()) <= 2, "the citation is where it was pressed");
    await shot(page, "73-cited");
    await chip.evaluate((el) => (window.pressedAt = el.getBoundingClientRect().top));
    await page.keyboard.press("Escape");
    await assertSoon(async () => (await width()) === wide && (await moved()) <= 2, "the citation is where it was");
    provoked(/404/);
  });
});

describe("the end of a conversation", () => {
  const left = () => conversation(page).evaluate((el) => el.scrollHeight - el.scrollTop - el.clientHeight);
  const atEnd = (what) => assertSoon(async () => (await left()) <= 1, `it is at its end ${what}`);

  it("stays in view when a question comes, a draft grows or the window shrinks, unless the reader has scrolled up", async () => {
    await arrive();
    await page.setViewportSize({ width: 1280, height: 500 });
    await page.goto("/");
    await ask(page, QUESTION);
    await answer(page, 1);
    await ask(page, "Summarize and audit the remote work policy");
    await assist(page).waitFor();
    await atEnd("above the question");
    await shot(page, "74-end-above-question");
    await assist(page).getByRole("button", { name: "Cancel", exact: true }).click();
    await assist(page).waitFor({ state: "detached" });
    await atEnd("when the question has left the page");
    const height = () => conversation(page).evaluate((el) => el.clientHeight);
    const before = await height();
    for (let i = 0; i < 6; i++) await composer(page).press("Shift+Enter");
    await assertSoon(async () => (await height()) < before, "the draft takes room");
    await atEnd("above a long draft");
    await page.setViewportSize({ width: 1280, height: 420 });
    await assertSoon(async () => (await height()) < before - 80, "the window is smaller");
    await atEnd("in a smaller window");

    await conversation(page).hover();
    await page.mouse.wheel(0, -5000);
    await assertSoon(() => conversation(page).evaluate((el) => el.scrollTop === 0), "it is scrolled up");
    await page.setViewportSize({ width: 1280, height: 400 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    assert.equal(await conversation(page).evaluate((el) => el.scrollTop), 0);
  });
});

describe("a tool call of a turn that was stopped", () => {
  it("says that it was not run, or not finished, without an alert", async () => {
    await arrive();
    await page.goto("/");
    await startWithTools(page, "draw a cat in a hat");
    const card = page.getByRole("group", { name: "Tool generate_image" });
    await card.getByText("Waiting for approval").waitFor();
    await assist(page).getByRole("button", { name: "Stop the answer" }).click();
    await card.getByText("Not approved").waitFor();
    await assertSoon(async () => (await history(page)).active_turn === null, "the turn has ended");
    await page.reload();
    await card.getByText("Not approved").waitFor();
    await shot(page, "75-not-run");
    const why = { type: "data-tool-message", id: "why", data: { tool_call_id: "It was stopped.", message_code: "tool.stopped" } };
    const error = (errorText) => ({ type: "tool-look", toolCallId: errorText, state: "output-error", input: {}, errorText });
    await pretend([told(1, "Look"), said(1, "Well.", [error("It was stopped."), why, error("It is broken.")])]);
    const look = page.getByRole("group", { name: "Tool look" });
    await look.nth(0).getByText("Not finished").waitFor();
    await look.nth(1).getByText("Failed").waitFor();
  });
});

describe("on a phone", () => {
  const slow = useSecondStack(["Well, ", "then."], 5);

  it("a queued message that was not sent can be retried and withdrawn", async () => {
    await arrive(phone, slow.stack.url);
    await page.goto("/");
    await startWithTools(page, "First");
    await answer(page, 1);
    slow.model.hold = 1;
    await ask(page, "Second");
    await writing(page).getByText("Well,").waitFor();
    await page.route("**/api/ui/chat", (route) => route.abort());
    await composer(page).fill("A third message that is long enough to be cut where it waits for the others");
    await composer(page).press("Control+Enter");
    const waiting = page.getByRole("list", { name: "Queued messages" });
    await waiting.getByText("Not sent. The server can't be reached.").waitFor();
    await shot(page, "69-phone-not-sent");
    for (const name of ["Send again", "Remove from queue"]) {
      const { x, width } = await waiting.getByRole("button", { name }).boundingBox();
      assert.ok(x >= 0 && x + width <= 390, `${name} ends at ${x + width} px`);
    }
    await page.unroute("**/api/ui/chat");
    await waiting.getByRole("button", { name: "Send again" }).click();
    await waiting.getByText("1", { exact: true }).waitFor();
    provoked(/ERR_FAILED/);
    slow.model.hold = Infinity;
    await answer(page, 3);
  });

  it("code can be copied without hovering", async () => {
    await arrive(phone);
    await pretend([told(1, "Code?"), said(1, "```\nx = 1\n```")]);
    const copy = page.getByRole("button", { name: "Copy code" });
    await copy.waitFor();
    assert.equal(await copy.evaluate((el) => getComputedStyle(el).opacity), "1");
  });
});
