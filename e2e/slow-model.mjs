// An OpenAI-compatible model server that sends one piece per step, so that a turn
// lasts as long as a test needs. The passages must contain its quotations.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const chunk = (delta, finish = null) => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "slow", choices: [{ index: 0, delta, finish_reason: finish }] });
const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };

/** Structured answers by schema name. */
const structured = {
  intent_classification: { action: "inquire", confidence: "high", enable_web_search: false, multi_action_detected: false, actions: ["inquire"], reasoning: "a question" },
  document_resolution: { resolved_uuids: [], unresolved_names: [], inference_confidence: "high", has_implicit_refs: false, reasoning: "no document is named" },
  web_query: { query: "zebra quasar xylophone" },
};

const callOf = ({ name, args = {} }, index) => ({ index, id: `call-${randomUUID()}`, type: "function", function: { name, arguments: JSON.stringify(args) } });

/**
 * Answers with its pieces, one every stepMs, but for the time being no more than hold. While failing is set it answers
 * with an error of its own. Each entry of calls, a list of {name, args}, is asked for once, after the pieces.
 */
export async function startSlowModel(pieces, stepMs) {
  const model = { pieces, failing: false, hold: Infinity, calls: [], thinkMs: 0 };
  const server = createServer(async (req, res) => {
    let raw = "";
    for await (const part of req) raw += part;
    const body = JSON.parse(raw || "{}");
    if (model.failing) {
      res.writeHead(500, { "Content-Type": "application/json" });
      return res.end(JSON.stringify({ error: { message: "out of order" } }));
    }
    const fixed = structured[body.response_format?.json_schema?.name];
    if (fixed) await new Promise((resolve) => setTimeout(resolve, model.thinkMs));
    if (!body.stream) {
      const message = { role: "assistant", content: JSON.stringify(fixed ?? {}) };
      res.writeHead(200, { "Content-Type": "application/json" });
      return res.end(JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model: "slow", choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
    }
    const send = (data) => res.write(`data: ${JSON.stringify(data)}\n\n`);
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const calls = body.tools ? model.calls.shift()?.map(callOf) : undefined;
    const todo = fixed ? [JSON.stringify(fixed)] : [...model.pieces];
    const timer = setInterval(
      () => {
        if (!fixed && model.pieces.length - todo.length >= model.hold) return;
        const piece = todo.shift();
        if (piece !== undefined) return send(chunk({ content: piece }));
        clearInterval(timer);
        if (calls) send(chunk({ tool_calls: calls }));
        send(chunk({}, calls ? "tool_calls" : "stop"));
        send({ ...chunk({}), choices: [], usage });
        res.end("data: [DONE]\n\n");
      },
      fixed ? 1 : stepMs,
    );
    res.on("close", () => clearInterval(timer));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}/v1`;
  return Object.assign(model, {
    /** For startStack. The model may be held for as long as a test takes. */
    settings: { LLM_BASE_URL: url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "slow", LLM_FIRST_BYTE_TIMEOUT: "120s" },
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  });
}
