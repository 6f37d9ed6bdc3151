// The page's words for the server's texts, by their codes (docs/errors.md). A text without a
// code, or with one that this page does not know, is shown as the server sent it.

import type { Coded } from "../api/coded";
import { escapeUnseen } from "../thread/json";
import type { Metadata, Question, Status, ToolInfo } from "../thread/types";
import { inAnswers } from "./codes";
import { words } from "./index";

type Dictionary = Readonly<Record<string, string>>;
type Text = string | ((values: Readonly<Record<string, unknown>>) => string);

const find = (dictionary: Dictionary, key: string): string | undefined => (Object.hasOwn(dictionary, key) ? dictionary[key] : undefined);

/** The page's words for a text of the server, or else the text itself. */
export const worded = (coded: Coded, text: string): string => wordsOf(coded) ?? text;

function wordsOf({ message_code: code, message_params: params = {} }: Coded): string | undefined {
  if (code === undefined || !Object.hasOwn(words.texts, code)) return undefined;
  const known = words.texts[code as keyof typeof words.texts] as Text;
  if (typeof known === "string") return known;
  try {
    return known(present(Object.fromEntries(Object.entries(params).map(([name, value]) => [name, valueOf(name, value)]))));
  } catch {
    return undefined; // a value is missing or unknown
  }
}

/** The values, of which a missing one is an error. */
const present = (values: Record<string, unknown>) =>
  new Proxy(values, {
    get(of, name: string) {
      if (!Object.hasOwn(of, name)) throw new Error(`no value ${name}`);
      return of[name];
    },
  });

function valueOf(name: string, value: unknown): unknown {
  if (name === "tool") return toolTitle(String(value));
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const inner = wordsOf(value as Coded);
  if (inner === undefined) throw new Error(`no words for ${name}`);
  return inner;
}

/** Why a turn failed. */
export const failure = (error: NonNullable<Metadata["error"]>): string => worded(error, error.message);

/** What a turn is doing. */
export const status = (s: Status): string => worded(s, s.message);

export const question = (q: Question): string => worded(q, q.message);

/** The label of an option: the title of a document, or the page's words. */
export const option = (o: { label: string; message_code?: string }): string => worded(o, o.label);

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

/** Replaces the server's placeholder for a quote that is in no source by the page's text. */
export const markRemovedQuotes = (text: string): string => text.replaceAll(inAnswers.quote_removed, words.message.unverifiedQuote);

/** What the server writes below an answer when it has no model, in each language. */
const offlineNotices: readonly string[] = [...inAnswers.offline, ...inAnswers.offline_plain];

/** Removes the line that says that the server has no model, because the page says so elsewhere. */
export function withoutOffline(text: string): string {
  const end = text.trimEnd();
  const last = offlineNotices.flatMap((line) => [`_${line}_`, line]).find((line) => end.endsWith(line));
  return last === undefined ? text : end.slice(0, -last.length).trimEnd();
}
