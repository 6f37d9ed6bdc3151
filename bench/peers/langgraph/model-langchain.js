// Calls the model with LangChain's client. Tokens reach the stream by LangGraph's mode
// "messages".
import { ChatOpenAI } from "@langchain/openai";

import { Documents, Intent } from "./schemas.js";

export function langChainModel({ baseURL, apiKey, name }) {
  const options = { model: name, apiKey, temperature: 0, maxRetries: 2, configuration: { baseURL } };
  const writer = new ChatOpenAI({ ...options, streaming: true });
  // In a graph that streams messages every model call streams; disableStreaming
  // prevents this for structured answers.
  const plain = new ChatOpenAI({ ...options, disableStreaming: true });
  const structured = (schema, schemaName) =>
    plain.withStructuredOutput(schema, { name: schemaName, method: "jsonSchema", strict: true }).withConfig({ tags: ["nostream"] });
  const askIntent = structured(Intent, "intent_classification");
  const askDocuments = structured(Documents, "document_resolution");
  const messages = (system, earlier, user) => [{ role: "system", content: system }, ...earlier, { role: "user", content: user }];

  return {
    intent: (system, earlier, user, config) => askIntent.invoke(messages(system, earlier, user), config),
    documents: (system, earlier, user, config) => askDocuments.invoke(messages(system, earlier, user), config),
    answer: async (system, earlier, user, config) => (await writer.invoke(messages(system, earlier, user), config)).content,
  };
}
