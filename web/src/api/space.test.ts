// @vitest-environment jsdom
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, getJSON } from "./http";
import { currentSpace, forSpace, inSpace, newIn, noteStatus, onRefused, setBeside, setSpace, spaceIn } from "./space";

const ID = "0190a0a0-0000-7000-8000-00000000000a";
const OTHER = "0190a0a0-0000-7000-8000-00000000000b";

afterEach(() => {
  setSpace("");
  setBeside([]);
  vi.unstubAllGlobals();
});

describe("the space of an address", () => {
  it.each([
    ["/", `?space=${ID}`, ID],
    ["/chat/x", `?head=h&space=${ID.toUpperCase()}`, ID],
    ["/print/x", `?space=${ID}`, ID],
    ["/", "", ""],
    ["/", "?space=team", ""],
    ["/discovery", `?space=${ID}`, ID],
    ["/admin", `?space=${ID}`, ""],
  ])("%s%s", (pathname, search, space) => expect(spaceIn({ pathname, search })).toBe(space));
});

describe("requests in a space", () => {
  const named = (path: string, headers?: HeadersInit) => inSpace(path, headers).get("X-Space-Id");

  it("name it where the server takes it, and nowhere else", () => {
    setSpace(ID);
    for (const path of ["/api/conversations?q=x", "/api/conversations/c", "/api/conversations/c/branch", "/api/conversations/c/shares", "/api/conversations/c/shares/s", "/api/conversations/c/feedback/t", "/api/batch/conversations", "/api/search?q=x", "/api/documents", "/api/documents?limit=1", "/api/documents/d/original?page=1", "/api/documents/d/chunks/d.0", "/api/document-sets", "/api/document-sets/s", "/api/ui/chat", "/api/ui/chat/c/stream", "/api/chat/history/c", "/api/chat/cancel", "/api/chat/stream/c?follow=thread", "/api/attachments", "/api/attachments/p", "/api/discoveries", "/api/discoveries/b/items"]) expect(named(path), path).toBe(ID);
    for (const path of ["/api/me", "/api/config", "/api/spaces", `/api/spaces/${ID}/members`, "/api/documents/d/reimport", "/api/imports", "/api/chats", "/api/shared/t"]) expect(named(path), path).toBeNull();
  });

  it("name none outside of spaces", () => expect(named("/api/documents")).toBeNull());

  it("that are sent later keep the space in which they were made", () => {
    const [own, here] = [forSpace(""), forSpace(ID, { Accept: "text/plain" })];
    setSpace(OTHER);
    expect(named("/api/documents/d", own)).toBeNull();
    expect(named("/api/documents/d", here)).toBe(ID);
    expect(inSpace("/api/documents/d", here).get("Accept")).toBe("text/plain");
  });

  it("that the server refuses report that the person may have been removed", () => {
    const check = vi.fn();
    onRefused(check);
    setSpace(ID);
    noteStatus(404, inSpace("/api/documents"));
    noteStatus(403, inSpace("/api/documents"));
    expect(check).toHaveBeenCalledTimes(2);
    noteStatus(200, inSpace("/api/documents"));
    noteStatus(404, inSpace("/api/me"));
    noteStatus(404, forSpace(OTHER));
    expect(check).toHaveBeenCalledTimes(2);
    onRefused(() => {});
  });
});

it("what the browser keeps for a new chat is another in each space", () => {
  expect(newIn("new")).toBe("new");
  setSpace(ID);
  expect([newIn("new"), currentSpace()]).toEqual([`new ${ID}`, ID]);
});

describe("a citation of a chat that reads spaces besides", () => {
  const CHUNK = "/api/documents/d/chunks/d.0";

  /** Answers requests as a server does that has the document in one space, for a person who reads some spaces. Returns what was asked for. */
  function serve(there: string, reads: string[]): string[] {
    const asked: string[] = [];
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
      const space = new Headers(init.headers).get("X-Space-Id") ?? "";
      asked.push(`${init.method ?? "GET"} ${path} ${space}`.trimEnd());
      return Promise.resolve(reads.includes(space) && space === there ? Response.json({ text: "canary" }) : Response.json({ error: { code: "not_found", message: "" } }, { status: 404 }));
    });
    return asked;
  }

  const status = (asking: Promise<unknown>) => asking.then(() => 200, (err: unknown) => (err as ApiError).status);

  it("is opened in the space where its document is", async () => {
    setBeside([ID, OTHER]);
    const asked = serve(OTHER, [ID, OTHER]);
    expect(await getJSON(CHUNK)).toEqual({ text: "canary" });
    expect(asked).toEqual([`GET ${CHUNK}`, `GET ${CHUNK} ${ID}`, `GET ${CHUNK} ${OTHER}`]);
  });

  it("is not found by who was removed from the space, and that tells nothing of the space of the page", async () => {
    const check = vi.fn();
    onRefused(check);
    setBeside([ID]);
    serve(ID, []);
    expect(await status(getJSON(CHUNK))).toBe(404);
    expect(check).not.toHaveBeenCalled();
    onRefused(() => {});
  });

  it("is looked for nowhere else: not by a page in a space, nor by changes, lists and other routes", async () => {
    setBeside([ID]);
    const asked = serve(ID, [ID]);
    expect(await status(getJSON("/api/documents/d", { method: "DELETE" }))).toBe(404);
    expect(await status(getJSON("/api/documents?limit=1"))).toBe(404);
    expect(await status(getJSON("/api/conversations/c"))).toBe(404);
    setSpace(OTHER);
    expect(await status(getJSON(CHUNK))).toBe(404);
    expect(asked).toEqual(["DELETE /api/documents/d", "GET /api/documents?limit=1", "GET /api/conversations/c", `GET ${CHUNK} ${OTHER}`]);
  });
});
