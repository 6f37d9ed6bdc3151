// A chat on another page: the script of the installation in a page of another origin.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, beforeEach, afterEach, describe, it } from "node:test";
import { axe, desktop, newPage } from "../browser.mjs";
import { browser, stack, useStack } from "../suite.mjs";

let other; // serves pages with the script
let script = () => ""; // its attributes
useStack(async () => {
  other = createServer((_, res) =>
    res
      .writeHead(200, { "Content-Type": "text/html", "Content-Security-Policy": `default-src 'none'; script-src ${stack.url} 'nonce-1'; frame-src ${stack.url}` })
      .end(`<!doctype html><html lang="en"><title>Another page</title><main><h1>Another page</h1></main><script nonce="1">window.getToken = () => (window.asked = (window.asked ?? 0) + 1, window.givenToken ?? "plv_none")</script><script src="${stack.url}/embed.js" ${script()}></script>`),
  );
  await new Promise((resolve) => other.listen(0, resolve));
  return { ALLOWED_ORIGINS: `http://localhost:${other.address().port}` };
});
after(() => other?.close());

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

  it("can be used with a screen reader", async () => {
    await visit('data-title="Ask us"');
    await button().click();
    await say("hello");
    await answer().waitFor();
    const inside = page.frames().find((f) => f.url().startsWith(stack.url));
    assert.deepEqual(await axe(inside), []);
    assert.deepEqual(await axe(page), []);
  });

  it("sends the page's token, and asks for another one when it is refused", async () => {
    const maker = await newPage(browser, stack.url, desktop);
    const key = (await (await maker.context.request.post(`${stack.url}/api/me/keys`, { data: { name: "page", days: 1 } })).json()).key;
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

  it("takes messages only from the page around it", async () => {
    await visit('data-title="Ask us" data-token="getToken"');
    await button().click();
    await message().waitFor();
    await page.evaluate(() => postMessage({ palaver: 1, type: "close" }, "*")); // not the frame
    await page.evaluate(() => new Promise((resolve) => (addEventListener("message", resolve), postMessage("after it", "*"))));
    assert.equal(await button().getAttribute("aria-expanded"), "true");
  });

  it("is not shown on a page of an origin that is not listed", async () => {
    await visit('data-title="Ask us"', "127.0.0.1");
    const refused = page.waitForEvent("console", (m) => /frame-ancestors/.test(m.text()));
    await button().click();
    await refused;
    for (const [path, policy] of [["/embed", "'none'"], [`/embed?origin=http://127.0.0.1:${port}`, "'none'"], [`/embed?origin=http://localhost:${port}`, `http://localhost:${port}`], [`/?origin=http://localhost:${port}`, "'none'"]]) {
      const { headers } = await fetch(stack.url + path);
      assert.equal(/frame-ancestors ([^;]+)$/.exec(headers.get("content-security-policy"))[1], policy, path);
      assert.equal(headers.get("x-frame-options"), policy === "'none'" ? "DENY" : null, path);
      if (path.startsWith("/embed")) assert.equal(headers.get("set-cookie"), null);
    }
  });
});
