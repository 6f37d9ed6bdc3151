// Makes the types of the API from its OpenAPI document: src/openapi.ts.
//
//   node openapi.mjs URL    writes the file, from the running server at URL
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** The schemas that the client uses; those that they refer to follow. */
const ROOTS = ["NativeEvent", "NativeChatBody", "NativeResumeBody", "NativeCancelBody", "Cancel", "History", "Conversation", "ConversationList", "ConversationPatchBody", "Document", "Documents", "SetList", "Search", "Attachment", "Error"];

/** Fields with values that a program adds to Palaver: the document lists those of one installation. */
const OPEN = new Set(["NativeChatBody.agent"]);

const FILE = fileURLToPath(new URL("src/openapi.ts", import.meta.url));
const refName = (ref) => ref.slice(ref.lastIndexOf("/") + 1);
const isName = /^[A-Za-z_$][\w$]*$/;

/** Returns the TypeScript of the schemas of an OpenAPI document. */
export function typesOf(document) {
  const { schemas } = document.components;
  const made = new Map();
  const waiting = [...ROOTS];

  function type(schema, at) {
    if (schema.$ref) {
      waiting.push(refName(schema.$ref));
      return refName(schema.$ref);
    }
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum && !OPEN.has(at)) return schema.enum.map((v) => JSON.stringify(v)).join(" | ");
    const union = schema.oneOf ?? schema.anyOf;
    if (union) return union.map((s) => type(s, at)).join(" | ");
    if (Array.isArray(schema.type)) return schema.type.map((one) => type({ ...schema, enum: undefined, type: one }, at)).join(" | ");
    switch (schema.type) {
      case "string":
      case "boolean":
      case "null":
        return schema.type;
      case "integer":
      case "number":
        return "number";
      case "array":
        return `Array<${type(schema.items ?? {}, at)}>`;
      case "object":
        return object(schema, at);
      default:
        return "unknown";
    }
  }

  function object(schema, at) {
    if (!schema.properties) return `Record<string, ${typeof schema.additionalProperties === "object" ? type(schema.additionalProperties, at) : "unknown"}>`;
    const needed = new Set(schema.required);
    const fields = Object.entries(schema.properties).map(([name, field]) => {
      const about = field.description ? `  /** ${field.description} */\n` : "";
      return `${about}  ${isName.test(name) ? name : JSON.stringify(name)}${needed.has(name) ? "" : "?"}: ${type(field, `${at}.${name}`)};\n`;
    });
    return `{\n${fields.join("")}}`;
  }

  for (let name; (name = waiting.shift()); ) {
    if (made.has(name)) continue;
    made.set(name, "");
    made.set(name, `export type ${name} = ${type(schemas[name], name)};\n`);
  }
  const sorted = [...made].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return `// Made from the OpenAPI document by "npm run types"; do not edit.\n\n${sorted.join("\n")}`;
}

/** Reads the document of a running server. */
export const readDocument = async (url) => (await fetch(new URL("/openapi.json", url))).json();

export const readTypes = () => readFile(FILE, "utf8");

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(FILE, typesOf(await readDocument(process.argv[2])));
