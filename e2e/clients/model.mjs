// An OpenAI-compatible model server with scripted answers.
import { createServer } from "node:http";

const chunk = (delta, finish = null) => ({ id: "c1", object: "chat.completion.chunk", created: 1, model: "scripted", choices: [{ index: 0, delta, finish_reason: finish }] });
const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };

/** Structured answers by schema name. */
const structured = {
  intent_classification: { action: "inquire", confidence: "high", enable_web_search: false, multi_action_detected: false, actions: ["inquire"], reasoning: "a question" },
  document_resolution: { resolved_uuids: [], unresolved_names: [], inference_confidence: "high", has_implicit_refs: false, reasoning: "no document is named" },
};

/** A promise that blocks an answer until open() is called. */
export function gate() {
  let open;
  const held = new Promise((resolve) => (open = resolve));
  return Object.assign(held, { open });
}

/**
 * Streams answers in the order in which they are given to say(). An answer is
 * {say: [text or promise to wait for, …], calls: [{name, arguments}], cut, status}.
 */
export async function startModel() {
  const answers = [];
  const asked = []; // the prompts of the streams, as JSON
  let gone = 0;
  const server = createServer(async (req, res) => {
    let raw = "";
    for await (const part of req) raw += part;
    const body = JSON.parse(raw || "{}");
    const usual = structured[body.response_format?.json_schema?.name];
    const say = (data) => res.write(`data: ${JSON.stringify(data)}\n\n`);
    if (!body.stream) {
      const message = { role: "assistant", content: JSON.stringify(usual ?? {}) };
      res.writeHead(200, { "Content-Type": "application/json" });
      return res.end(JSON.stringify({ id: "c1", object: "chat.completion", created: 1, model: "scripted", choices: [{ index: 0, message, finish_reason: "stop" }], usage }));
    }
    const answer = usual ? { say: [JSON.stringify(usual)] } : (asked.push(JSON.stringify(body.messages)), answers.shift() ?? { say: ["Well."] });
    if (answer.status) {
      res.writeHead(answer.status, { "Content-Type": "application/json" });
      return res.end(JSON.stringify({ error: { message: "no", type: "error" } }));
    }
    res.on("close", () => res.writableFinished || gone++);
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    say(chunk({ role: "assistant", content: "" }));
    for (const piece of answer.say ?? []) {
      if (typeof piece === "string") say(chunk({ content: piece }));
      else await piece;
    }
    if (answer.cut) return res.destroy();
    for (const [index, call] of (answer.calls ?? []).entries()) {
      say(chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) } }] }));
    }
    say(chunk({}, answer.calls ? "tool_calls" : "stop"));
    say({ ...chunk({}), choices: [], usage });
    res.end("data: [DONE]\n\n");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked,
    /** The number of streams whose client disconnected early. */
    gone: () => gone,
    says: (...list) => answers.push(...list),
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
