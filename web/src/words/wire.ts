// What the server says, in the words of the page. The page knows it by its code,
// step or id, or by its sentence; what it does not know it shows as it came.

import type { Agent } from "../api/config";
import type { Mention } from "../composer/outgoing";
import { escapeUnseen } from "../thread/json";
import type { Metadata, Question, Status, ToolInfo } from "../thread/types";
import { words } from "./index";

type Dictionary = Readonly<Record<string, string>>;

const find = (dictionary: Dictionary, key: string): string | undefined => (Object.hasOwn(dictionary, key) ? dictionary[key] : undefined);

/** A sentence of the server. */
export const sentence = (text: string): string => find(words.server, text) ?? text;

/** A refused request: by its sentence, which says more than its code does. */
export function refusal(code: string, message: string): string {
  const types = /^Unsupported file type\. (.+) files can be read\.$/.exec(message)?.[1];
  if (types) return words.library.unsupported(types.split(/, | and /));
  return find(words.server, message) ?? find(words.errors, code) ?? message;
}

/** A failed turn. */
export function failure({ code, message }: NonNullable<Metadata["error"]>): string {
  const unavailable = "The model is not available. The server's log says why.";
  if (message.startsWith(unavailable)) return sentence(unavailable) + message.slice(unavailable.length); // then what an operator can do
  const filtered = "The provider's content filter stopped the answer.";
  return message.includes(filtered) ? sentence(filtered) : refusal(code, message);
}

export const notice = (code: string, message: string): string => find(words.notices, code) ?? message;

/** What a turn is doing; "" for a step that is not worth a line. */
export function status({ node, message, web_query }: Status): string {
  if (node === "validate_inputs") return "";
  if (node === "web_search" && web_query) return words.webSearching(web_query);
  if (node === "import") return importing(message);
  if (node === "model_retry") return words.retrying(Number(/\((\d+)\)/.exec(message)?.[1] ?? 1));
  const tool = node === "tool" ? /^Calling (.+)\.\.\.$/.exec(message)?.[1] : undefined;
  return tool ? words.calling(toolTitle(tool)) : (find(words.steps, node) ?? message);
}

/** What a turn says while it imports. */
function importing(message: string): string {
  const file = /^Downloading document: (.+)\.\.\.$/.exec(message)?.[1];
  if (file) return words.imports.downloading(file);
  if (message.startsWith("Checking access")) return words.imports.looking;
  return message.startsWith("Processing document") ? words.imports.processing : message;
}

/** Why an import failed. */
export function importProblem(message: string): string {
  const [, size = "", most] = /^That file is too large to import \((.+)\)\. The maximum file size is (.+)\.$/.exec(message) ?? [];
  if (most) return words.imports.tooLarge(size.startsWith("more than ") ? words.imports.moreThan(size.slice("more than ".length)) : size, most);
  const kinds = /^I can't read that kind of file\. (.+) files can be imported\.$/.exec(message)?.[1];
  return kinds ? words.imports.unsupported(kinds) : sentence(message) || words.imports.states.failed;
}

/** An agent that the page does not know has its own label and description. */
export function agentText({ name, label, description }: Agent): { label: string; detail: string } {
  const known: Readonly<Record<string, { label: string; detail: string }>> = words.composer.agents;
  return (Object.hasOwn(known, name) && known[name]) || { label, detail: description };
}

function toolNamed(name: string): { tool: string; server: string } {
  const [, server = "", tool = name] = /^(.+?)__(.+)$/.exec(name) ?? [];
  const spaced = tool.replace(/[_-]+/g, " ").trim();
  return { tool: find(words.tools.known, name) ?? spaced.charAt(0).toUpperCase() + spaced.slice(1), server };
}

/** A tool's name for a person, in a sentence: tracker__create_ticket is “Create ticket” (tracker). */
export function toolTitle(name: string): string {
  const { tool, server } = toolNamed(name);
  return words.tools.title(tool, server);
}

/** The same by itself: Create ticket (tracker). */
export function toolLabel(name: string): string {
  const { tool, server } = toolNamed(name);
  return server ? `${tool} (${server})` : tool;
}

/** What a tool does, for a person. */
export const toolAbout = ({ name, server, description }: ToolInfo): string => (!server && find(words.tools.about, name)) || escapeUnseen(description.trim());

export function question({ interrupt_type, message, tool_calls: calls = [] }: Question): string {
  if (interrupt_type === "tool_approval") {
    const again = message.startsWith("I was interrupted");
    const [call] = calls;
    if (!call || calls.length > 1) return again ? words.question.runSeveralAgain : words.question.allowSeveral;
    return again ? words.question.runAgain(toolTitle(call.name)) : words.question.allow(toolTitle(call.name));
  }
  const notFound = "I could not find ";
  const rest = message.startsWith(notFound) && Object.keys(words.server).find((known) => message.endsWith(`. ${known}`));
  return rest ? words.question.notFound(message.slice(notFound.length, -`. ${rest}`.length), sentence(rest)) : sentence(message);
}

/** An option of a question: a document has its title, anything else the page's words. */
export function option(type: string, { id, label }: { id: string; label: string }): string {
  if (type === "action_choice") return find(words.composer.actions, id) ?? label;
  if (type === "retrieval_low" || id === "all") return find(words.question.options, id) ?? label;
  return label;
}

/** What a mention is called on the page. Its own label goes to the server. */
export function mentionLabel({ category, id, label }: Mention): string {
  if (category === "web") return words.composer.webSearch;
  return category === "action" ? (find(words.composer.actions, id) ?? label) : label;
}

/** What stands in an answer where the server took out a quote that is in no source. */
export const markRemovedQuotes = (text: string): string => text.replaceAll("[quotation removed: not in the sources]", words.message.unverifiedQuote);

/** An answer without the line by which the server says that it has no model: the page says so once. */
export const withoutOffline = (text: string): string => text.replace(/\n*[_*]?Offline engine: (?:quoted from your documents, )?no language model is configured\.[_*]?\s*$/, "");
