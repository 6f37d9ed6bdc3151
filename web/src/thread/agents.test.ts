import { describe, expect, it } from "vitest";
import { agentOf, newAgents } from "./parts";
import type { Message } from "./types";

const answer = (agent?: string): Message => ({ id: "a", role: "assistant", metadata: agent ? { agent } : {}, parts: [] });
const said = (agent?: string): Message => ({ id: "u", role: "user", metadata: agent ? { agent } : {}, parts: [] });

it("the agent of a thread is that of its last turn that has one", () => {
  expect(agentOf([])).toBeUndefined();
  expect(agentOf([said(), answer("documents"), said("assistant")])).toBe("assistant");
  expect(agentOf([said("assistant"), answer("assistant"), said(), answer()])).toBe("assistant");
});

describe("an answer names its agent", () => {
  const named = (...agents: (string | undefined)[]) => {
    const messages = agents.flatMap((a) => [said(), answer(a)]);
    return newAgents(messages, "documents").filter((_, i) => messages[i]!.role === "assistant");
  };
  it("where it changes", () => expect(named("documents", "assistant", "assistant", "documents")).toEqual([undefined, "assistant", undefined, "documents"]));
  it("in the first answer if it is not the default", () => expect(named("assistant")).toEqual(["assistant"]));
  it("only if the server sends it", () => expect(named(undefined, "assistant", undefined)).toEqual([undefined, "assistant", undefined]));
});
