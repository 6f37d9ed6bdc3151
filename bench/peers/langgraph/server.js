// A server that runs the documents agent's turn on LangGraph.js, in the way that
// its documentation describes: a StateGraph with the Postgres checkpointer behind
// fastify, streamed as server-sent events. bench/peers starts it and compares
// Palaver with it.
import Fastify from "fastify";
import pg from "pg";
import { Command } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";

import { openDocuments } from "./documents.js";
import { buildGraph } from "./graph.js";
import { langChainModel } from "./model-langchain.js";
import { fetchModel } from "./model-fetch.js";

const env = process.env;
const pool = new pg.Pool({ connectionString: env.DATABASE_URL, max: Number(env.POOL_SIZE ?? 20) });
const checkpointer = new PostgresSaver(pool);
await checkpointer.setup();
const documents = await openDocuments(pool);
const lean = env.MODEL_CLIENT === "fetch";
const openModel = lean ? fetchModel : langChainModel;
const graph = buildGraph({
  documents,
  checkpointer,
  model: openModel({ baseURL: env.LLM_BASE_URL, apiKey: env.LLM_API_KEY ?? "none", name: env.LLM_MODEL ?? "scripted" }),
  sideBySide: env.RESOLVERS === "side-by-side",
});

const app = Fastify({ logger: false, bodyLimit: 32 << 20 });

app.get("/healthz", async () => ({ ok: true }));

app.post("/documents", async (request) => ({ id: await documents.add(request.body) }));

app.post("/runs/stream", async (request, reply) => {
  const { thread_id, message, tagged_doc_ids = [], action = "", resume } = request.body;
  const input =
    resume === undefined
      ? { messages: [{ role: "user", content: message }], requested: action, tagged: tagged_doc_ids }
      : new Command({ resume });
  reply.hijack();
  reply.raw.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-cache" });
  const send = (event, data) => reply.raw.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  try {
    const chunks = await graph.stream(input, {
      configurable: { thread_id },
      streamMode: lean ? ["custom", "updates"] : ["custom", "messages", "updates"],
      // A checkpoint is in Postgres before the next step begins.
      durability: "sync",
    });
    for await (const [mode, chunk] of chunks) {
      if (mode === "messages") {
        const [{ content }, { langgraph_node }] = chunk;
        if (content && langgraph_node === "inquire") send("messages", { content });
      } else if (mode === "custom") {
        send("custom", chunk);
      } else if (chunk.__interrupt__) {
        send("interrupt", chunk.__interrupt__[0].value);
      } else if (chunk.format_response) {
        const answer = chunk.format_response.messages[0];
        send("end", { response: answer.content, citations: chunk.format_response.citations });
      }
    }
  } catch (error) {
    send("error", { message: String(error) });
  }
  reply.raw.end();
});

await app.listen({ host: "127.0.0.1", port: Number(env.PORT) });

process.once("SIGTERM", async () => {
  await app.close();
  await pool.end();
  process.exit(0);
});
