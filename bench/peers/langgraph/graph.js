import { Annotation, END, MessagesAnnotation, START, StateGraph, interrupt } from "@langchain/langgraph";
import { AIMessage } from "@langchain/core/messages";

import { prompts } from "./prompts.js";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  requested: Annotation(), // the action that the request names, or ""
  tagged: Annotation(), // ids of the documents that the request names
  action: Annotation(),
  docIds: Annotation(),
  answer: Annotation(),
  sources: Annotation(), // the passages that the answer may cite: number, document, place
  citations: Annotation(),
});

const context = { resolvers: 5, answer: 6 }; // earlier messages that a prompt repeats

// buildGraph returns a graph with the nodes of Palaver's documents agent. With
// sideBySide the two resolvers run concurrently in one step, otherwise one after the
// other.
export function buildGraph({ documents, checkpointer, model, sideBySide }) {
  const status = (config, node, message) => config.writer?.({ type: "status", node, message });
  const question = (state) => state.messages.at(-1).content;
  const earlier = (state, n) => state.messages.slice(0, -1).slice(-n);

  async function intentResolver(state, config) {
    status(config, "intent_resolver", "Clarifying intent...");
    if (state.requested) return { action: state.requested };
    const intent = await model.intent(prompts.intent, earlier(state, context.resolvers), question(state), config);
    return { action: intent.action };
  }

  async function docResolver(state, config) {
    status(config, "doc_resolver", "Finding documents...");
    // No model is needed when the request names both.
    if (state.requested && state.tagged.length > 0) return { docIds: state.tagged };
    const known = await documents.titles(state.tagged);
    const found = await model.documents(prompts.docs(known, state.tagged), earlier(state, context.resolvers), question(state), config);
    const visible = new Set(known.map((d) => d.id));
    return { docIds: [...new Set([...state.tagged, ...found.resolved_uuids.filter((id) => visible.has(id))])] };
  }

  async function validateInputs(state, config) {
    status(config, "validate_inputs", "Checking what is needed...");
    if (state.docIds.length > 0 || state.action === "inquire") return {};
    const answer = interrupt({ type: "text_input", message: "Which document do you mean?" });
    return { docIds: [answer] };
  }

  async function inquire(state, config) {
    status(config, "inquire", "Researching your question...");
    const passages = await documents.search(question(state), state.docIds);
    const answer = await model.answer(prompts.answer, earlier(state, context.answer), prompts.question(passages, question(state)), config);
    return { answer, sources: passages.map((p, i) => ({ n: i + 1, doc_id: p.doc_id, chunk: p.ordinal, start: p.start, end: p.end })) };
  }

  async function formatResponse(state, config) {
    status(config, "format_response", "Formatting the answer...");
    const cited = new Set([...state.answer.matchAll(/\[(\d{1,3})\]/g)].map((m) => Number(m[1])));
    return { messages: [new AIMessage(state.answer)], citations: state.sources.filter((s) => cited.has(s.n)) };
  }

  const graph = new StateGraph(State)
    .addNode("intent_resolver", intentResolver)
    .addNode("doc_resolver", docResolver)
    .addNode("validate_inputs", validateInputs)
    .addNode("inquire", inquire)
    .addNode("format_response", formatResponse)
    .addEdge(START, "intent_resolver")
    .addEdge("validate_inputs", "inquire")
    .addEdge("inquire", "format_response")
    .addEdge("format_response", END);
  if (sideBySide) graph.addEdge(START, "doc_resolver").addEdge(["intent_resolver", "doc_resolver"], "validate_inputs");
  else graph.addEdge("intent_resolver", "doc_resolver").addEdge("doc_resolver", "validate_inputs");
  return graph.compile({ checkpointer });
}
