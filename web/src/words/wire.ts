// Translates the server's texts into the page's texts. They are looked up by their code,
// step or id, or by the sentence itself. Unknown texts are shown unchanged.

import type { Agent } from "../api/config";
import type { Mention } from "../composer/outgoing";
import { escapeUnseen } from "../thread/json";
import type { Metadata, Question, Status, ToolInfo } from "../thread/types";
import { words } from "./index";

type Dictionary = Readonly<Record<string, string>>;

const find = (dictionary: Dictionary, key: string): string | undefined => (Object.hasOwn(dictionary, key) ? dictionary[key] : undefined);

/** The page's text for a sentence of the server. */
export const sentence = (text: string): string => find(words.server, text) ?? text;

/** The text of a rejected request: by its sentence, which says more than its code, else by its code. */
export function refusal(code: string, message: string): string {
  const types = /^Unsupported file type\. (.+) files can be read\.$/.exec(message)?.[1];
  if (types) return words.library.unsupported(types.split(/, | and /));
  return find(words.server, message) ?? find(words.errors, code) ?? message;
}

/** The text of a failed turn. */
export function failure({ code, message }: NonNullable<Metadata["error"]>): string {
  const unavailable = "The model is not available. The server's log says why.";
  if (message.startsWith(unavailable)) return sentence(unavailable) + message.slice(unavailable.length); // what follows tells the operator what to do
  const filtered = "The provider's content filter stopped the answer.";
  return message.includes(filtered) ? sentence(filtered) : refusal(code, message);
}

export const notice = (code: string, message: string): string => find(words.notices, code) ?? message;

/** What a turn is doing; "" for a step that is not shown. */
export function status({ node, message, web_query }: Status): string {
  if (node === "validate_inputs") return "";
  if (node === "web_search" && web_query) return words.webSearching(web_query);
  if (node === "import") return importing(message);
  if (node === "model_retry") return words.retrying(Number(/\((\d+)\)/.exec(message)?.[1] ?? 1));
  const tool = node === "tool" ? /^Calling (.+)\.\.\.$/.exec(message)?.[1] : undefined;
  return tool ? words.calling(toolTitle(tool)) : (find(words.steps, node) ?? message);
}

/** The status of a turn that imports a document. */
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

/** The label and description of an agent; the server's texts for an agent that the page does not know. */
export function agentText({ name, label, description }: Agent): { label: string; detail: string } {
  const known: Readonly<Record<string, { label: string; detail: string }>> = words.composer.agents;
  return (Object.hasOwn(known, name) && known[name]) || { label, detail: description };
}

function toolNamed(name: string): { tool: string; server: string } {
  const [, server = "", tool = name] = /^(.+?)__(.+)$/.exec(name) ?? [];
  const spaced = tool.replace(/[_-]+/g, " ").trim();
  return { tool: find(words.tools.known, name) ?? spaced.charAt(0).toUpperCase() + spaced.slice(1), server };
}

/** A tool's name for use in a sentence: tracker__create_ticket is “Create ticket” (tracker). */
export function toolTitle(name: string): string {
  const { tool, server } = toolNamed(name);
  return words.tools.title(tool, server);
}

/** A tool's name on its own: Create ticket (tracker). */
export function toolLabel(name: string): string {
  const { tool, server } = toolNamed(name);
  return server ? `${tool} (${server})` : tool;
}

/** What a tool does: the page's text for a tool of Palaver, else the description from its server. */
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

/** The label of an option: the title of a document, else the page's text. */
export function option(type: string, { id, label }: { id: string; label: string }): string {
  if (type === "action_choice") return find(words.composer.actions, id) ?? label;
  if (type === "retrieval_low" || id === "all") return find(words.question.options, id) ?? label;
  return label;
}

/** The label of a mention on the page. The server gets the mention's own label. */
export function mentionLabel({ category, id, label }: Mention): string {
  if (category === "web") return words.composer.webSearch;
  return category === "action" ? (find(words.composer.actions, id) ?? label) : label;
}

/** Replaces the server's placeholder for a quote that is in no source by the page's text. */
export const markRemovedQuotes = (text: string): string => text.replaceAll("[quotation removed: not in the sources]", words.message.unverifiedQuote);

/** Removes the line that says that the server has no model, because the page says so elsewhere. */
export const withoutOffline = (text: string): string => text.replace(/\n*[_*]?Offline engine: (?:quoted from your documents, )?no language model is configured\.[_*]?\s*$/, "");
