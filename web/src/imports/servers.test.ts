// @vitest-environment jsdom
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, createElement, type ReactNode } from "react";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ToolCard, ToolMessages } from "../thread/ToolCard";
import type { ToolPart } from "../thread/parts";
import { toolServers } from "./accounts";
import ServersDialog from "./ServersDialog";

let root: Root;
let at: HTMLElement;
let asked: string[];
let connections: Record<string, unknown>;

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  asked = [];
  connections = { items: [], available: [] };
  vi.stubGlobal("fetch", async (path: string, init?: RequestInit) => {
    asked.push(`${init?.method ?? "GET"} ${path}`);
    return Response.json(path === "/api/connections" ? connections : path.includes("/start") ? { url: "#consent" } : { revoked: true });
  });
  at = document.body.appendChild(document.createElement("div"));
  root = createRoot(at);
});
afterEach(async () => {
  await act(async () => root.unmount());
  at.remove();
  vi.unstubAllGlobals();
});

const show = (what: ReactNode) => act(async () => root.render(createElement(QueryClientProvider, { client: new QueryClient() }, what)));
const button = (name: string) => document.querySelector<HTMLButtonElement>(`button[aria-label="${name}"]`);

it("lists servers that are known in any way once", () => {
  const list = toolServers({
    items: [{ provider: "google", state: "connected" }, { provider: "mcp:notes", state: "expired" }],
    available: ["google", "mcp:notes", "mcp:mail"],
    servers: [{ name: "files", state: "ok", tools: 2 }],
  });
  expect(list.map((s) => [s.name, s.state, s.account?.state, s.connectable])).toEqual([
    ["files", "ok", undefined, false],
    ["notes", undefined, "expired", true],
    ["mail", undefined, undefined, true],
  ]);
});

it("shows what is left out, and connects and disconnects accounts", async () => {
  connections = {
    items: [{ provider: "mcp:notes", state: "connected" }],
    available: ["mcp:notes", "mcp:mail"],
    servers: [{ name: "files", state: "ok", tools: 2, notes: [{ tool: "odd", problem: "it has no name", left_out: true }, { problem: "it has 200 tools" }] }],
  };
  await show(createElement(ServersDialog, { onClose: () => undefined }));
  await vi.waitFor(() => expect(document.body.textContent).toContain("2 tools"));
  expect(document.body.textContent).toContain("odd is left out: it has no name");
  expect(document.body.textContent).toContain("it has 200 tools");
  expect(button("Connect your account at notes")).toBeNull();
  await act(async () => button("Connect your account at mail")?.click());
  expect(asked).toContain("GET /api/connections/mcp/mail/start?return_to=%2F");
  await act(async () => button("Disconnect your account at notes")?.click());
  expect(asked).toContain("DELETE /api/connections/mcp/notes");
});

it("offers to connect where a call needs an account", async () => {
  const part = { type: "tool-notes__search", toolCallId: "c1", state: "output-error", input: {}, errorText: "no" } as unknown as ToolPart;
  const said = new Map([["c1", { message_code: "tool.connect", message_params: { server: "notes" } }]]);
  await show(createElement(ToolMessages, { value: said }, createElement(ToolCard, { part, over: true })));
  await vi.waitFor(() => expect(button("Connect your account at notes")).not.toBeNull());
  expect(at.textContent).toContain("notes needs your own account there.");
});
