// Pages of other origins: a page of ALLOWED_ORIGINS uses the API with a key.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { composer, desktop, newPage } from "../browser.mjs";
import { arrive, browser, context, page, stack, useStack } from "../suite.mjs";
import { assertSoon } from "../thread.mjs";

let other; // serves an empty page
useStack(async () => {
  other = createServer((_, res) => res.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html><title>Another page</title>"));
  await new Promise((resolve) => other.listen(0, resolve));
  return { ALLOWED_ORIGINS: `http://127.0.0.1:${other.address().port}` };
});
after(() => other?.close());

/** Runs in the page: sends requests with the key, and returns what a script can read. */
const use = (p, path, init = {}) =>
  p.evaluate(
    async ([url, { form, ...options }]) => {
      const body = form && new FormData();
      if (form) body.append("file", new Blob([form]), "notes.txt");
      try {
        const res = await fetch(url, { ...options, ...(body && { body }) });
        return { status: res.status, headers: Object.fromEntries(res.headers), text: await res.text() };
      } catch (err) {
        return { failed: err.name };
      }
    },
    [stack.url + path, init],
  );

describe("a page of another origin", () => {
  let key, allowed, foreign, pages;
  const withKey = (more = {}) => ({ Authorization: `Bearer ${key}`, ...more });

  before(async () => {
    await arrive(desktop);
    await page.goto("/");
    await composer(page).waitFor();
    const made = await context.request.post(`${stack.url}/api/me/keys`, { data: { name: "another page", days: 1 } });
    assert.equal(made.status(), 201);
    key = (await made.json()).key;
    const { port } = other.address();
    pages = await Promise.all([`http://127.0.0.1:${port}`, `http://localhost:${port}`].map((url) => newPage(browser, url, desktop)));
    [allowed, foreign] = pages.map((p) => p.page);
    await Promise.all([allowed, foreign].map((p) => p.goto("/")));
  });
  after(async () => {
    for (const p of pages ?? []) await p.context.close();
    await context?.close();
  });

  it("streams an answer, attaches again, uploads and downloads", async () => {
    const sent = await use(allowed, "/api/chat", { method: "POST", headers: withKey({ "Content-Type": "application/json" }), body: JSON.stringify({ message: "When is the capital plan submitted?" }) });
    assert.equal(sent.status, 200);
    const events = sent.text.split("\n").filter((line) => line.startsWith("data: ")).map((line) => JSON.parse(line.slice(6)));
    assert.equal(events.at(-1).type, "response");
    const { "x-thread-id": thread, "x-turn-id": turn } = sent.headers;
    assert.ok(thread && turn, "scripts can read the ids");
    const again = await use(allowed, `/api/chat/stream/${thread}?turn_id=${turn}`, { headers: withKey({ "Last-Event-ID": events[0].event_id }) });
    assert.equal(again.status, 200);
    assert.match(again.text, /"type":"response"/);

    const uploaded = await use(allowed, "/api/documents", { method: "POST", headers: withKey(), form: "The keeper winds the clock." });
    assert.equal(uploaded.status, 202);
    const { id } = JSON.parse(uploaded.text);
    await assertSoon(async () => JSON.parse((await use(allowed, `/api/documents/${id}`, { headers: withKey() })).text).status === "ready", "the document is ready");
    const file = await use(allowed, `/api/documents/${id}/original`, { headers: withKey() });
    assert.equal(file.text, "The keeper winds the clock.");
    assert.match(file.headers["content-disposition"], /notes/);
    const removed = await use(allowed, `/api/conversations/${thread}`, { method: "DELETE", headers: withKey() });
    assert.equal(removed.status, 204);
  });

  it("sees the progress of an upload", async () => {
    const cdp = await allowed.context().newCDPSession(allowed);
    await cdp.send("Network.enable");
    await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 300_000 });
    const { status, shares } = await allowed.evaluate(
      ([url, key]) =>
        new Promise((resolve) => {
          const body = new FormData();
          body.append("file", new Blob(["The keeper winds the clock. ".repeat(20_000)]), "long notes.txt");
          const shares = [];
          const xhr = new XMLHttpRequest();
          xhr.open("POST", `${url}/api/documents`);
          xhr.setRequestHeader("Authorization", `Bearer ${key}`);
          xhr.upload.onprogress = (e) => shares.push(e.loaded / e.total);
          xhr.onloadend = () => resolve({ status: xhr.status, shares });
          xhr.send(body);
        }),
      [stack.url, key],
    );
    await cdp.detach();
    assert.equal(status, 202);
    assert.equal(shares.at(-1), 1);
    assert.ok(shares.some((share) => share > 0 && share < 1), `${shares}`);
    assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
  });

  it("is nobody without a key, and its cookies do not count", async () => {
    assert.equal((await use(allowed, "/api/me")).status, 401);
    await allowed.context().addCookies(await context.cookies()); // a cookie is for a host, whatever the port
    assert.deepEqual(await use(allowed, "/api/me", { credentials: "include" }), { failed: "TypeError" });
    assert.equal((await use(allowed, "/api/me")).status, 401);
    const before = await allowed.context().cookies();
    await use(allowed, "/api/conversations", { credentials: "include" });
    assert.deepEqual(await allowed.context().cookies(), before);
  });

  it("can do nothing if its origin is not listed", async () => {
    assert.deepEqual(await use(foreign, "/api/me", { headers: withKey() }), { failed: "TypeError" });
    assert.deepEqual(await use(foreign, "/api/config"), { failed: "TypeError" });
  });
});
