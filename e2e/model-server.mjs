// The common part of the tests' OpenAI-compatible model servers: the protocol and the
// structured answers.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

const usage = { prompt_tokens: 100, completion_tokens: 40, total_tokens: 140 };

/** Structured answers by schema name. */
const structured = {
  intent_classification: { action: "inquire", confidence: "high", enable_web_search: false, multi_action_detected: false, actions: ["inquire"], reasoning: "a question" },
  document_resolution: { resolved_uuids: [], unresolved_names: [], inference_confidence: "high", has_implicit_refs: false, reasoning: "no document is named" },
  web_query: { query: "zebra quasar xylophone" },
};

const completion = (object, choice, more = {}) => ({ id: "c1", object, created: 1, model: "scripted", choices: [{ index: 0, ...choice }], ...more });

function sendJSON(res, status, value) {
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(value));
}

/** A promise that blocks an answer until open() is called. */
export function gate() {
  let open;
  const held = new Promise((resolve) => (open = resolve));
  return Object.assign(held, { open });
}

/** Responds to a request with an error of the model server. */
export const refuse = (res, status) => sendJSON(res, status, { error: { message: "out of order", type: "error" } });

/** A streamed answer. */
export class Answer {
  constructor(res) {
    this.res = res;
    res.writeHead(200, { "Content-Type": "text/event-stream" });
  }
  #send(data) {
    this.res.write(`data: ${JSON.stringify(data)}\n\n`);
  }
  #chunk(delta, finish_reason = null, more) {
    this.#send(completion("chat.completion.chunk", { delta, finish_reason }, more));
  }
  say(content) {
    this.#chunk({ content });
  }
  /** Ends the answer, with the tool calls if there are any: a list of {name, args}. */
  end(calls) {
    if (calls) this.#chunk({ tool_calls: calls.map(({ name, args = {} }, index) => ({ index, id: `call-${randomUUID()}`, type: "function", function: { name, arguments: JSON.stringify(args) } })) });
    this.#chunk({}, calls ? "tool_calls" : "stop");
    this.#chunk({}, null, { choices: [], usage });
    this.res.end("data: [DONE]\n\n");
  }
}

/**
 * Starts a server. stream(res, body, fixed) responds to a request for a stream; fixed is
 * the structured answer for the request's schema, if it has one. before(res, fixed) is
 * called first, except for pictures; it returns true when it has responded. draw(body)
 * returns a picture as base64.
 */
export async function startModelServer(stream, before = async () => false, draw = async () => undefined) {
  const server = createServer(async (req, res) => {
    let raw = "";
    for await (const part of req) raw += part;
    const body = JSON.parse(raw || "{}");
    if (req.url.endsWith("/images/generations")) return sendJSON(res, 200, { created: 1, data: [{ b64_json: await draw(body) }] });
    const answer = structured[body.response_format?.json_schema?.name];
    const fixed = answer && JSON.stringify(answer);
    if (await before(res, fixed)) return;
    if (body.stream) return stream(res, body, fixed);
    sendJSON(res, 200, completion("chat.completion", { message: { role: "assistant", content: fixed ?? "{}" }, finish_reason: "stop" }, { usage }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
