import { describe, expect, it } from "vitest";
import type { ToolPart } from "../../thread/parts";
import type { Message } from "../../thread/types";
import { readBoard, type Proposal } from "../board";
import { changedItem, importedChat, isOpen, paramsOf, proposedIn, proposes } from "./proposals";

const call = (toolName: string, toolCallId: string, input: unknown = {}): ToolPart => ({ type: "dynamic-tool", toolName, toolCallId, state: "input-available", input }) as ToolPart;

describe("proposals of an answer", () => {
  const message = { id: "a", role: "assistant", parts: [{ type: "text", text: "I propose" }, call("add_item", "c1"), call("search_documents", "c2"), call("delete_item", "c3")] } as Message;

  it("are its calls of the tools that change the board", () => {
    expect(proposedIn(message)).toEqual(["c1", "c3"]);
    expect([proposes(call("edit_item", "x")), proposes(call("edit_items", "x"))]).toEqual([true, false]);
  });

  it("ignore arguments of the wrong type", () => {
    expect(paramsOf(call("add_item", "c", { entity_type: "fact", text: 7, related_ids: "I-1", item_id: "F-1" }))).toEqual({ entity_type: "fact", item_id: "F-1" });
    expect(paramsOf(call("add_item", "c", null))).toEqual({});
  });
});

describe("a proposal", () => {
  const board = readBoard({ facts: [{ fact_id: "F-1", text: "new", version: 2 }] });
  const edit = (over: Partial<Proposal>): Proposal => ({ id: "c", tool: "edit_item", params: { item_id: "F-1" }, state: "pending", seen: { n: 1, text: "old" }, ...over });

  it("is open until it is decided; a failed one can be retried", () => {
    const states = ["pending", "error", "applied", "cancelled", "overtaken"] as const;
    expect(states.map((state) => isOpen(edit({ state })))).toEqual([true, true, false, false, false]);
  });

  it("is outdated when its item has a newer version", () => {
    expect(changedItem(edit({}), board)?.text).toBe("new");
    expect(changedItem(edit({ seen: { n: 2, text: "new" } }), board)).toBeUndefined();
    expect(changedItem(edit({ state: "applied" }), board)).toBeUndefined();
    expect(changedItem(edit({ params: { item_id: "F-9" } }), board)).toBeUndefined();
    expect(changedItem(edit({ tool: "add_item" }), board)).toBeUndefined();
  });
});

describe("an imported chat", () => {
  const old = (id: string) => ({ id, role: "user" as const, content: id });
  const own = (id: string, server_id?: string) => ({ id, role: "user", metadata: { ...(server_id && { server_id }) }, parts: [] }) as Message;

  it("consists of the messages before the thread's own", () => {
    expect(importedChat([old("1"), old("2"), old("3")], [own("local", "2"), own("x", "3")]).map((m) => m.id)).toEqual(["1"]);
    expect(importedChat([old("1")], [])).toHaveLength(1);
    expect(importedChat([old("1")], [own("not sent yet")])).toHaveLength(1);
    expect(importedChat([old("1")], [own("a", "of the server")])).toEqual([]);
  });
});
