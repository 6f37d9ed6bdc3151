// Calls the model with plain fetch. Tokens reach the stream by LangGraph's mode "custom".
import { z } from "zod";

import { Documents, Intent } from "./schemas.js";

const schemas = { intent_classification: Intent, document_resolution: Documents };
const jsonSchemas = Object.fromEntries(Object.entries(schemas).map(([name, s]) => [name, z.toJSONSchema(s)]));
const roles = { human: "user", ai: "assistant", system: "system" };

export function fetchModel({ baseURL, apiKey, name }) {
  const messages = (system, earlier, user) => [
    { role: "system", content: system },
    ...earlier.map((m) => ({ role: roles[m.getType()], content: m.content })),
    { role: "user", content: user },
  ];

  async function post(body) {
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: name, temperature: 0, ...body }),
    });
    if (!response.ok) throw new Error(`the model answered ${response.status}: ${await response.text()}`);
    return response;
  }

  async function structured(schemaName, system, earlier, user) {
    const response = await post({
      messages: messages(system, earlier, user),
      response_format: { type: "json_schema", json_schema: { name: schemaName, strict: true, schema: jsonSchemas[schemaName] } },
    });
    const { choices } = await response.json();
    return schemas[schemaName].parse(JSON.parse(choices[0].message.content));
  }

  return {
    intent: (system, earlier, user) => structured("intent_classification", system, earlier, user),
    documents: (system, earlier, user) => structured("document_resolution", system, earlier, user),

    async answer(system, earlier, user, config) {
      const response = await post({ messages: messages(system, earlier, user), stream: true, stream_options: { include_usage: true } });
      let text = "";
      for await (const data of events(response.body)) {
        if (data === "[DONE]") break;
        const delta = JSON.parse(data).choices[0]?.delta?.content;
        if (!delta) continue;
        text += delta;
        config.writer?.({ type: "token", content: delta });
      }
      return text;
    },
  };
}

// events yields the data lines of a stream of server-sent events.
async function* events(body) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of body) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: ")) yield line.slice(6);
  }
}
