// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readAhead } from "./api";
import { keepHead } from "./heads";
import { readHistory } from "./history";
import { Server, THREAD } from "./testserver";

let server: Server;

beforeEach(() => {
  sessionStorage.clear();
  server = new Server();
  vi.stubGlobal("fetch", server.fetch);
});
afterEach(() => vi.unstubAllGlobals());

const read = (thread = THREAD, head?: string) => readHistory(thread, head, new AbortController().signal);
const requests = () => server.calls.map((c) => c.what);

it("uses what was read ahead, once", async () => {
  readAhead(THREAD);
  await read();
  expect(requests()).toEqual(["list", "state"]);
  await read();
  expect(requests()).toEqual(["list", "state", "list", "state"]);
});

it("uses nothing that was read ahead of another thread or branch", async () => {
  readAhead(THREAD);
  await read("another");
  expect(requests()).toHaveLength(4);
  await read();
  expect(requests()).toHaveLength(6);
  keepHead(THREAD, "t1");
  readAhead(THREAD);
  await read();
  expect(requests()).toHaveLength(10);
});

it("says that what was read ahead does not exist", async () => {
  server.on("list", { status: 404 });
  readAhead(THREAD);
  await expect(read()).rejects.toMatchObject({ status: 404 });
});
