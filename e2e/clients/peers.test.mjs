// Peers that others wrote, against the running product: a model that fails at random, and an
// agents' framework that speaks chat completions.
import assert from "node:assert/strict";
import { describe, it, before, after } from "node:test";
import { LLMock } from "@copilotkit/aimock";
import { Agent, Runner, OpenAIProvider, tool } from "@openai/agents";
import { z } from "zod";
import { startStack } from "../stack.mjs";
import { eventually, person, text } from "./sdk.mjs";

/** A generator of numbers from 0 to 1 that gives the same ones in each run. */
function random(seed) {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

describe("@copilotkit/aimock 1.43.0, a model that fails at random", () => {
  const TURNS = 200;
  const AT_ONCE = 20; // each a user of their own
  let model, stack;
  before(async () => {
    const next = random(7);
    const asked = (req) => req.messages.findLast((m) => m.role === "user").content;
    const number = (req) => /Question (\d+)/.exec(JSON.stringify(asked(req)))[1];
    const answer = (req) => ({ content: `Answer ${number(req)} has these words: the keeper winds the clock at seven.` });
    model = new LLMock({ port: 0, chaos: { dropRate: 0.1, malformedRate: 0.1, rateLimitRate: 0.1 } });
    const list = { toolCalls: [{ name: "list_documents", arguments: "{}" }] };
    model.on({ hasToolResult: false, predicate: () => next() < 0.1 }, list, { truncateAfterChunks: 1, chunkSize: 4 });
    model.on({ hasToolResult: false }, list);
    model.on({ hasToolResult: true, predicate: () => next() < 0.1 }, answer, { truncateAfterChunks: 3, chunkSize: 8 });
    model.on({ hasToolResult: true }, answer, { chunkSize: 8 });
    await model.start();
    stack = await startStack({ LLM_BASE_URL: `${model.url}/v1`, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "aimock", FOLLOWUPS: "off" });
  });
  after(async () => {
    await stack?.stop();
    await model?.stop();
  });

  it(`${TURNS} turns have their whole answer once, and call their tool once`, async () => {
    const waiting = Array.from({ length: TURNS }, (_, i) => i + 1);
    const seen = [];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const who = person(stack.url);
        for (let n = waiting.shift(); n; n = waiting.shift()) {
          const id = `aimock-${n}`;
          const res = await who.fetch("/api/ui/chat", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ id, agent: "assistant", messages: [{ id: `m${n}`, role: "user", parts: [{ type: "text", text: `Question ${n}` }] }] }),
          });
          assert.equal(res.status, 200);
          await res.text();
          const { messages } = (await who.call("GET", `/api/ui/chat/${id}`)).body;
          const said = messages.at(-1);
          seen.push({ n, text: text(said).trim(), tools: said.parts.filter((p) => p.type === "tool-list_documents").map((p) => p.state), reason: said.metadata.finished_reason });
        }
      }),
    );
    assert.equal(seen.length, TURNS);
    for (const turn of seen) {
      assert.deepEqual(turn, { n: turn.n, text: `Answer ${turn.n} has these words: the keeper winds the clock at seven.`, tools: ["output-available"], reason: turn.reason });
    }
    const failed = model.getRequests().filter((r) => r.response.chaosAction).length;
    assert.ok(failed > TURNS / 10, `only ${failed} calls failed`);
  });
});

describe("@openai/agents 0.20.0 with chat completions", () => {
  let stack, who, runner, asked;
  before(async () => {
    stack = await startStack({});
    who = person(stack.url);
    const { body } = await who.call("POST", "/api/me/keys", { name: "agents" });
    runner = new Runner({ modelProvider: new OpenAIProvider({ apiKey: body.key, baseURL: `${stack.url}/v1`, useResponses: false }), tracingDisabled: true });
    const doc = await who.call("POST", "/api/documents", { title: "Lighthouse notes", text: "The lighthouse keeper winds the clock every evening at seven.\n\nThe lamp is lit at eight." });
    await eventually(async () => (await who.call("GET", `/api/documents/${doc.body.id}`)).body.status === "ready", "the document");
    asked = 0;
  });
  after(() => stack?.stop());

  const agent = () =>
    new Agent({
      name: "Clerk",
      instructions: "Answer from the documents.",
      model: "palaver-documents",
      tools: [tool({ name: "look_up", description: "Looks up a number.", parameters: z.object({ name: z.string() }), execute: async () => String(++asked) })],
    });

  it("an agent with a tool of its own gets the answer, and goes on in the same conversation", async () => {
    const first = await runner.run(agent(), "When does the lighthouse keeper wind the clock?");
    assert.match(first.finalOutput, /every evening at seven/);
    const second = await runner.run(agent(), [...first.history, { role: "user", content: "When is the lamp lit?" }]);
    assert.match(second.finalOutput, /at eight/);
    assert.equal(asked, 0, "tools of the client are not called");
    const { body } = await who.call("GET", "/api/conversations");
    assert.equal(body.items.length, 1);
  });

  it("streams its text", async () => {
    const stream = await runner.run(agent(), "When does the lighthouse keeper wind the clock?", { stream: true });
    let streamed = "";
    for await (const piece of stream.toTextStream()) streamed += piece;
    await stream.completed;
    assert.match(streamed, /every evening at seven/);
    assert.equal(streamed.trim(), stream.finalOutput.trim());
  });
});
