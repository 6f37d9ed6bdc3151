// The AI SDK's own client code, in both supported versions.
import * as ai7 from "ai";
import { Chat as Chat7, useChat as useChat7 } from "@ai-sdk/react";
import * as ai6 from "ai-6";
import { Chat as Chat6, useChat as useChat6 } from "@ai-sdk/react-6";

export const SDKS = [
  { name: "ai 7.0.173 with @ai-sdk/react 4.0.177", Chat: Chat7, useChat: useChat7, ...ai7 },
  { name: "ai 6.0.326 with @ai-sdk/react 3.0.326", Chat: Chat6, useChat: useChat6, ...ai6 },
];

/** A fetch with a cookie jar: one anonymous user. */
export function person(url) {
  let cookie = "";
  const sent = []; // bodies of the posts to the chat
  const who = { sent, thread: "" }; // the UUID of the thread last talked to
  who.fetch = async (input, init = {}) => {
    const headers = new Headers(init.headers);
    if (cookie) headers.set("cookie", cookie);
    if (init.method === "POST" && String(input).endsWith("/api/ui/chat")) sent.push(JSON.parse(init.body));
    const res = await fetch(String(input).startsWith("/") ? url + input : input, { ...init, headers });
    for (const line of res.headers.getSetCookie()) cookie = line.split(";")[0];
    who.thread = res.headers.get("x-thread-id") ?? who.thread;
    return res;
  };
  who.call = async (method, path, body) => {
    const res = await who.fetch(path, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
    const text = await res.text();
    return { status: res.status, body: text ? JSON.parse(text) : null };
  };
  /** The branches of the last used thread. */
  who.branches = async () => (await who.call("GET", `/api/chat/history/${who.thread}`)).body.branches;
  return who;
}

/** A user's chat that records its callbacks. */
export function newChat(sdk, who, { id = `chat-${Math.random().toString(36).slice(2)}`, body, messages, fetch = who.fetch } = {}) {
  const told = { data: [], finished: [], errors: [] };
  const chat = new sdk.Chat({
    id,
    messages,
    transport: new sdk.DefaultChatTransport({ api: "/api/ui/chat", fetch, body }),
    sendAutomaticallyWhen: sdk.lastAssistantMessageIsCompleteWithApprovalResponses,
    onData: (part) => told.data.push(part),
    onFinish: (end) => told.finished.push(end),
    onError: (err) => told.errors.push(err),
  });
  return Object.assign(chat, { told });
}

/** Waits until check() returns a value. */
export async function eventually(check, what) {
  for (const end = Date.now() + 60_000; Date.now() < end; ) {
    const got = await check();
    if (got) return got;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`timeout waiting for ${what}`);
}

export const text = (message) => message.parts.filter((p) => p.type === "text").map((p) => p.text).join("");
export const types = (message) => message.parts.map((p) => p.type);
export const part = (message, type) => message.parts.findLast((p) => p.type === type);
