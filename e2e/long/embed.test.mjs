// A chat on another page: the script of the installation in a page of another origin.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, afterEach, describe, it } from "node:test";
import { axe, desktop, newPage } from "../browser.mjs";
import { browser, stack, useStack } from "../suite.mjs";
import { addDocument } from "../thread.mjs";

let other; // serves pages with the script
let evil; // serves a page that tries what it can with the window around it
let script = () => ""; // its attributes
const EVIL = `<!doctype html><title>Evil</title><script>
  window.heard = [];
  addEventListener("message", ({ data }) => heard.push(data));
  for (const type of ["token", "close"]) parent.postMessage({ palaver: 1, type, id: 1 }, "*");
  parent.postMessage("evil has tried", "*");
</script>`;
const listen = (server) => new Promise((resolve) => server.listen(0, () => resolve(server)));
useStack(async () => {
  evil = await listen(createServer((_, res) => res.writeHead(200, { "Content-Type": "text/html" }).end(EVIL)));
  other = createServer((_, res) =>
    res
      .writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": `default-src 'none'; script-src ${stack.url} 'nonce-1'; frame-src ${stack.url} ${evilURL()}` })
      .end(`<!doctype html><html lang="en"><title>Another page</title><main><h1>Another page</h1></main><script nonce="1">window.getToken = () => (window.asked = (window.asked ?? 0) + 1, window.givenToken ?? "plv_none")</script><script src="${stack.url}/embed.js" ${script()}></script>`),
  );
  await listen(other);
  return { ALLOWED_ORIGINS: `http://localhost:${other.address().port}` };
});
after(() => [other, evil].forEach((server) => server?.close()));
const evilURL = () => `http://127.0.0.1:${evil.address().port}`;

describe("the chat on a page of another origin", () => {
  let opened, page, port;
  before(() => (port = other.address().port));
  /** Opens a page of a host with the script. */
  async function visit(attributes = "", host = "localhost") {
    script = () => attributes;
    await opened?.context.close();
    opened = await newPage(browser, `http://${host}:${port}`, desktop);
    page = opened.page;
    await page.goto("/");
  }
  beforeEach(() => (opened = undefined));
  afterEach(() => opened?.context.close());

  const button = () => page.getByRole("button", { name: "Ask us" });
  const frame = () => page.frameLocator("palaver-chat iframe");
  const message = () => frame().getByRole("textbox", { name: "Message" });
  const say = async (text) => {
    await message().fill(text);
    await message().press("Enter");
  };
  const cookies = async () => (await opened.context.cookies()).filter((c) => c.domain === "127.0.0.1"); // of the installation
  const inside = () => page.frames().find((f) => f.url().startsWith(stack.url));
  const answer = () => frame().getByText("I am Palaver");

  it("answers an anonymous person, who finds the conversation again", async () => {
    await visit('data-title="Ask us" data-agent="documents" data-accent="#7a1f5c"');
    assert.equal(await page.locator("palaver-chat iframe").count(), 0, "the frame is made when it is opened");
    await button().press("Enter");
    assert.equal(await button().getAttribute("aria-expanded"), "true");
    await frame().getByRole("heading", { name: "Ask us" }).waitFor();
    await say("hello");
    await answer().waitFor();
    assert.equal(await frame().locator("html").evaluate((html) => html.style.getPropertyValue("--accent")), "#7a1f5c");
    assert.deepEqual((await cookies()).map(({ name, httpOnly, secure, sameSite }) => ({ name, httpOnly, secure, sameSite })), [{ name: "palaver_frame", httpOnly: true, secure: true, sameSite: "None" }]);

    await page.reload();
    await button().click();
    await answer().waitFor();
    await message().press("Escape");
    await page.locator("palaver-chat button[aria-expanded=false]").waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.localName), "palaver-chat", "the button has the focus");
  });

  it("can be used with the keyboard alone, and with a screen reader", async () => {
    await visit('data-title="Ask us"');
    const { keyboard } = page;
    const focused = () => inside().evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent);
    await keyboard.press("Tab");
    await keyboard.press("Enter");
    await message().waitFor();
    await frame().locator("[role=textbox]:focus").waitFor();
    await keyboard.type("hello");
    await keyboard.press("Enter");
    await answer().waitFor();
    assert.match(await frame().locator("html").getAttribute("lang"), /^en/);
    await page.getByRole("region", { name: "Ask us" }).locator("iframe[title='Ask us']").waitFor();
    await frame().getByRole("article", { name: "Palaver", exact: true }).waitFor();
    assert.deepEqual(await axe(inside()), []);
    assert.deepEqual(await axe(page), []);
    for (let i = 0; (await focused()) !== "Close Ask us"; i++, await keyboard.press("Shift+Tab")) assert.ok(i < 20, "the button has the focus at some time");
    await keyboard.press("Space");
    await page.locator("palaver-chat button[aria-expanded=false]").waitFor();
    await keyboard.press("Enter"); // the focus is on the button again
    await page.locator("palaver-chat button[aria-expanded=true]").waitFor();
  });

  /** A person with a personal key. */
  async function personWithKey() {
    const maker = await newPage(browser, stack.url, desktop);
    const call = async (method, path, data) => (await maker.context.request.fetch(stack.url + path, { method, data })).json();
    return { ...maker, call, key: (await call("POST", "/api/me/keys", { name: "page", days: 1 })).key };
  }

  it("sends the page's token, and asks for another one when it is refused", async () => {
    const { key, ...maker } = await personWithKey();
    await visit('data-title="Ask us" data-token="getToken"');
    await button().click();
    await message().waitFor();
    await page.evaluate((token) => (window.givenToken = token), key);
    await say("hello");
    await answer().waitFor();
    assert.ok((await page.evaluate(() => window.asked)) >= 2);
    const list = await (await maker.context.request.get(`${stack.url}/api/conversations`)).json();
    assert.equal(list.items.length, 1, "it is the token's owner who asked");
    assert.deepEqual(await cookies(), []);
    await maker.context.close();
  });

  it("uses all documents, and those of a set only if the page asks for it", async () => {
    const { key, call, context, page: theirs } = await personWithKey();
    const [seven] = await Promise.all(["seven", "nine"].map((hour) => addDocument(theirs, `Notes of ${hour}`, `The keeper winds the clock at ${hour}.`)));
    const set = await call("POST", "/api/document-sets", { name: "Lighthouse", doc_ids: [seven] });
    for (const [attributes, sets] of [["", undefined], [`data-set="${set.id}"`, [set.id]]]) {
      await visit(`data-title="Ask us" data-token="getToken" ${attributes}`);
      await page.evaluate((token) => (window.givenToken = token), key);
      await button().click();
      for (const n of [1, 2]) {
        await message().waitFor();
        const sent = page.waitForRequest((r) => r.method() === "POST" && r.url().endsWith("/api/ui/chat"));
        await say("When does the keeper wind the clock?");
        assert.deepEqual((await sent).postDataJSON().tagged_set_ids, sets, `message ${n}`);
        await frame().getByRole("article", { name: "Palaver", exact: true }).nth(n - 1).waitFor();
      }
    }
    const { items } = await call("GET", "/api/conversations");
    const cited = await Promise.all(items.map(async ({ id }) => new Set((await call("GET", `/api/chat/history/${id}`)).messages.flatMap((m) => (m.metadata.citations ?? []).map((c) => c.doc_id)))));
    assert.equal(cited[1].size, 2, "both are cited without a set");
    assert.deepEqual([...cited[0]], [seven]);
    await context.close();
  });

  it("takes no message of another frame, nor of a hostile page in its own frame, and gives them none", async () => {
    const { key, context } = await personWithKey();
    await visit('data-title="Ask us" data-token="getToken"');
    await page.evaluate((token) => (window.givenToken = token), key); // one that the server refuses would be asked for again
    await button().click();
    await message().waitFor();
    await page.waitForFunction(() => window.asked === 1);
    const holdsStill = async (what) => {
      assert.equal(await button().getAttribute("aria-expanded"), "true", what);
      assert.equal(await page.evaluate(() => window.asked), 1, what);
    };
    const untilTried = (start, arg) => page.evaluate(`new Promise((resolve) => { addEventListener("message", (e) => e.data === "evil has tried" && resolve()); (${start})(${JSON.stringify(arg)}); })`);
    await untilTried(() => ["token", "close", 0].forEach((type) => postMessage(type ? { palaver: 1, type, id: 1 } : "evil has tried", "*")));
    await holdsStill("the page's own window");
    await untilTried((src) => document.body.append(Object.assign(document.createElement("iframe"), { src })), evilURL());
    await holdsStill("another frame");
    await untilTried((src) => (document.querySelector("palaver-chat").shadowRoot.querySelector("iframe").src = src), evilURL());
    await holdsStill("our frame, with a hostile page");
    await page.evaluate(() => (window.palaver.close(), window.palaver.open())); // tells the frame that it has the focus
    const hostile = page.frames().filter((f) => f.url().startsWith(evilURL()));
    assert.equal(hostile.length, 2);
    for (const f of hostile) assert.deepEqual(await f.evaluate(() => new Promise((resolve) => (addEventListener("message", () => resolve(heard)), postMessage("after it", "*")))), ["after it"]);
    await context.close();
  });

  it("takes a token only from the page around its frame", async () => {
    const { key, call, context } = await personWithKey();
    await visit('data-title="Ask us" data-token="getToken"');
    const sent = [];
    page.on("request", async (r) => sent.push(r.headers().authorization));
    await page.evaluate(() => (window.getToken = () => new Promise((give) => (window.give = give))));
    await button().click();
    await page.waitForFunction(() => window.give);
    await inside().evaluate(() => {
      for (let id = 0; id < 20; id++) postMessage({ palaver: 1, type: "token", id, token: "plv_stolen" }, "*");
      return new Promise((resolve) => (addEventListener("message", ({ data }) => data === "after it" && resolve()), postMessage("after it", "*")));
    });
    await page.evaluate((token) => (window.give(token), (window.getToken = () => token)), key);
    await say("hello");
    await answer().waitFor();
    assert.ok(sent.includes(`Bearer ${key}`));
    assert.ok(!sent.includes("Bearer plv_stolen"));
    assert.equal((await call("GET", "/api/conversations")).items.length, 1);
    await context.close();
  });

  it("is not shown on a page of an origin that is not listed", async () => {
    await visit('data-title="Ask us"', "127.0.0.1");
    const refused = page.waitForEvent("console", (m) => /frame-ancestors/.test(m.text()));
    await button().click();
    await refused;
    // It does not help to name a listed origin: the browser compares it.
    const refusedAgain = page.waitForEvent("console", (m) => /frame-ancestors/.test(m.text()));
    await page.evaluate((src) => document.body.append(Object.assign(document.createElement("iframe"), { src })), `${stack.url}/embed?origin=http://localhost:${port}`);
    await refusedAgain;
    for (const [path, policy] of [["/embed", "'none'"], [`/embed?origin=http://127.0.0.1:${port}`, "'none'"], [`/embed?origin=http://localhost:${port}`, `http://localhost:${port}`], [`/?origin=http://localhost:${port}`, "'none'"]]) {
      const { headers } = await fetch(stack.url + path);
      assert.equal(/frame-ancestors ([^;]+)$/.exec(headers.get("content-security-policy"))[1], policy, path);
      assert.equal(headers.get("x-frame-options"), policy === "'none'" ? "DENY" : null, path);
      if (path.startsWith("/embed")) assert.equal(headers.get("set-cookie"), null);
    }
  });
});
