// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, createElement, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultConfig } from "../api/config";
import { words } from "../words";
import ImportCard from "./ImportCard";
import { Imports, type Import } from "./imports";
import LinkChips from "./LinkChips";

const ID = "1AbCdEfGhIjKlMnOp";
const LINK = `https://drive.google.com/file/d/${ID}/view`;

let root: Root;
let at: HTMLElement;
let sent: { path: string; body: unknown }[];
let asked: string[];
let connections: { items: unknown[]; available: string[] };

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  sent = [];
  asked = [];
  connections = { items: [], available: ["google"] };
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    asked.push(path);
    if (init?.method) sent.push({ path, body: JSON.parse(String(init.body)) });
    return Response.json(path === "/api/connections" ? connections : {});
  });
  at = document.body.appendChild(document.createElement("div"));
  root = createRoot(at);
});
afterEach(async () => {
  await act(async () => root.unmount());
  at.remove();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const show = (what: ReactNode) => act(async () => root.render(createElement(QueryClientProvider, { client: new QueryClient() }, what)));
const press = (label: string) => act(async () => button(label).click());
const button = (label: string) => {
  const found = [...at.querySelectorAll("button")].find((b) => b.textContent === label || b.ariaLabel === label || b.getAttribute("aria-label") === label);
  if (!found) throw new Error(`no button ${label} in ${at.innerHTML}`);
  return found;
};

const anImport: Import = { id: "1", url: LINK, source_type: "google_drive", name: "Leave policy", state: "downloading", created_at: "2026-11-23T10:00:00Z", updated_at: "2026-11-23T10:00:00Z" };
const read = vi.fn();
const card = (more: Partial<Import>) =>
  show(createElement(Imports, { value: { threadId: "thread", items: [] } }, createElement(ImportCard, { item: { ...anImport, ...more }, kind: "drive", onRead: read })));

describe("the card of an import", () => {
  it.each([
    ["looking", "Check access"],
    ["downloading", "Download"],
    ["reading", "Read"],
    ["indexing", "Prepare for search"],
  ] as const)("shows %s as the step %s", async (state, step) => {
    await card({ state });
    expect(at.querySelector("[aria-current=step]")?.textContent).toBe(step);
    expect(at.querySelector("[role=status]")?.textContent).toBe(`Google Drive file · ${words.imports.states[state]}`);
  });

  it.each([
    ["imported", "Ready, 3 chunks"],
    ["updated", "Updated, 3 chunks"],
    ["duplicate", "Already in your library"],
  ] as const)("shows the outcome of a finished import: %s", async (outcome, says) => {
    await card({ state: "ready", outcome, chunks: 3, document_id: "doc" });
    expect(at.querySelector("[role=status]")?.textContent).toContain(says);
    expect(at.querySelector("[aria-current=step]")).toBeNull();
    await press(words.imports.open);
    expect(read).toHaveBeenLastCalledWith({ id: "doc", title: "Leave policy" });
  });

  it("links to the source, in a new tab without opener and referrer", async () => {
    await card({ state: "ready" });
    const link = at.querySelector("a")!;
    expect(link.href).toBe(LINK);
    expect(link.rel).toBe("noopener noreferrer");
  });

  it("shows a name from outside as text", async () => {
    await card({ name: `<img src=x onerror="alert(1)">` });
    expect(at.querySelector("img")).toBeNull();
    expect(at.textContent).toContain(`<img src=x onerror="alert(1)">`);
  });

  it("has no link if the URL is invalid", async () => {
    await card({ url: "javascript:alert(1)" });
    expect(at.querySelector("a")).toBeNull();
  });

  it("shows why it failed, and retries in its conversation", async () => {
    await card({ state: "failed", code: "rate_limited", message: "Google Drive is temporarily limiting requests. Please try again in a few minutes." });
    expect(at.querySelector("[role=alert]")?.textContent).toBe("Google Drive is temporarily limiting requests. Please try again in a few minutes.");
    expect(at.textContent).not.toContain(words.account.google.connect);
    await press(words.common.tryAgain);
    expect(sent).toEqual([{ path: "/api/imports", body: { url: LINK, conversation_id: "thread" } }]);
  });

  it.each([
    ["says that Google Drive is not set up, without a retry that would fail", [], words.imports.notSetUp, []],
    ["offers to connect an account where that is possible", ["google"], words.imports.connectFirst, [words.common.tryAgain, words.account.google.connect]],
  ] as const)("%s", async (_, available, says, offers) => {
    connections = { available: [...available], items: [] };
    await card({ state: "failed", code: "not_configured", message: "Importing from Google Drive is not set up on this server." });
    await act(() => vi.waitFor(() => expect(at.querySelector("[role=alert]")?.textContent).toBe(says)));
    expect([...at.querySelectorAll("button")].map((b) => b.textContent)).toEqual(offers);
  });

  it("is named after the link of the message until the name of its document is known", async () => {
    await show(createElement(ImportCard, { item: { ...anImport, name: "" }, kind: "doc", onRead: read }));
    expect(at.querySelector("[role=group]")?.getAttribute("aria-label")).toBe("Import of Google Doc");
    expect(at.textContent).not.toContain("google.com");
    expect(at.textContent?.match(/Google Doc/g)).toHaveLength(1);
  });

  it.each([
    ["offers to connect an account for a file that is not shared", ["google"], [], true],
    ["offers nothing if the server cannot connect accounts", [], [], false],
    ["offers nothing if the account is already connected", ["google"], [{ provider: "google", state: "connected" }], false],
  ] as const)("%s", async (_, available, items, offered) => {
    connections = { available: [...available], items: [...items] };
    await card({ state: "failed", code: "not_shared", message: "No." });
    await act(() => vi.waitFor(() => expect(asked).toContain("/api/connections")));
    await act(() => vi.waitFor(() => expect(at.textContent?.includes(words.account.google.connect)).toBe(offered)));
  });
});

describe("the chips of links", () => {
  it("show the kind of each link, and remove the link from the text", async () => {
    const removed: string[] = [];
    const other = `https://docs.google.com/spreadsheets/d/${ID}2/edit`;
    await show(createElement(LinkChips, { text: `Compare ${LINK}, (${other}) and https://example.com/a.`, onRemove: (link: string) => removed.push(link) }));
    expect([...at.querySelectorAll("li")].map((li) => li.textContent)).toEqual(["Google Drive file drive.google.com", "Google Sheet docs.google.com", "Web page example.com"]);
    await press(words.common.remove("Google Sheet docs.google.com"));
    expect(removed).toEqual([other]);
  });

  it("say that Google Drive is not set up on this server", async () => {
    const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
    client.setQueryData(["config"], { ...defaultConfig, googleDrive: false });
    await act(async () => root.render(createElement(QueryClientProvider, { client }, createElement(LinkChips, { text: `${LINK} and https://example.com/a.`, onRemove: () => {} }))));
    expect([...at.querySelectorAll("li")].map((li) => li.textContent)).toEqual([words.texts["import.drive_not_configured"], "Web page example.com"]);
  });

  it("report a malformed link only when the user pauses", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const chips = (text: string) => show(createElement(LinkChips, { text, onRemove: () => {} }));
    await chips("");
    await chips("https://drive.google.com/file/d/x");
    expect(at.querySelector("li")).toBeNull();
    await act(async () => vi.advanceTimersByTime(1_000));
    expect(at.querySelector("[role=alert]")?.textContent).toBe(words.texts["import.no_drive_link"]);
  });
});
