// The thread behind the page, in the state of a LangGraph frontend's runtime: the
// messages of the visible branch, each assistant message with its checkpoint in
// metadata.custom.lg, and the open interrupt.
import { readInterrupt, sendFeedback, sendMessage } from "./api.js";

const user = (content, attachments) => ({ id: crypto.randomUUID(), createdAt: new Date(), role: "user", content, attachments, metadata: { custom: {} } });

const assistant = () => ({
  id: crypto.randomUUID(),
  createdAt: new Date(),
  role: "assistant",
  content: [],
  status: { type: "running" },
  metadata: { unstable_state: null, unstable_annotations: [], unstable_data: [], steps: [], custom: {} },
});

const checkpointOf = (message) => message?.metadata.custom.lg?.checkpoint_id;

/** Returns the content of a user message as the API expects it. */
function contentOf(message) {
  const text = message.content.map((part) => part.text ?? "").join("");
  const images = message.attachments.flatMap((a) => a.content);
  return images.length === 0 ? text : [{ type: "text", text }, ...images];
}

/** Returns the assistant message with the change that an event makes. */
function grown(message, event) {
  const content = [...message.content];
  const last = content.at(-1);
  const at = (id) => content.findIndex((part) => part.toolCallId === id);
  switch (event.type) {
    case "meta":
      if (!event.checkpoint_id || event.phase === "start") return message;
      return { ...message, metadata: { ...message.metadata, custom: { lg: { checkpoint_id: event.checkpoint_id } } } };
    case "token":
      if (last?.type === "text") content[content.length - 1] = { ...last, text: last.text + event.content };
      else content.push({ type: "text", text: event.content });
      return { ...message, content };
    case "tool_call": {
      const part = { type: "tool-call", toolCallId: event.id, toolName: event.name, args: event.arguments, argsText: JSON.stringify(event.arguments) };
      if (at(event.id) < 0) content.push(part);
      else content[at(event.id)] = part;
      return { ...message, content };
    }
    case "tool_result":
      content[at(event.tool_call_id)] = { ...content[at(event.tool_call_id)], result: event.content };
      return { ...message, content };
    case "interrupt":
      return { ...message, status: { type: "requires-action", reason: "interrupt" } };
    case "error":
      return { ...message, status: { type: "incomplete", reason: "error", error: event.error } };
    case "done":
      return message.status.type === "running" ? { ...message, status: { type: "complete", reason: "stop" } } : message;
  }
  throw new Error(`unknown event: ${JSON.stringify(event)}`);
}

export class Thread {
  constructor(threadId) {
    this.threadId = threadId;
    this.state = { messages: [], isRunning: false, interrupt: null, decisions: {}, saved: true };
    this.listeners = new Set();
    this.used = false; // it has a first message, on this branch or another
  }

  subscribe = (listener) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  snapshot = () => this.state;

  set(change) {
    this.state = { ...this.state, ...change };
    this.used ||= this.state.messages.length > 0;
    for (const listener of this.listeners) listener();
  }

  /** Shows the stored messages. */
  load = (messages) => this.set({ messages: [...messages] });

  /** Shows the branch that was switched to. */
  show = (messages) => this.set({ messages: [...messages], saved: false });

  /** Reads the thread's open interrupt, if any, after the page has loaded. */
  async rehydrate() {
    const { interrupted, checkpoint_id, payload } = await readInterrupt(this.threadId, checkpointOf(this.state.messages.at(-1)));
    if (!interrupted) return;
    // The question may have been asked on another page, or in another dialect.
    if (checkpointOf(this.state.messages.at(-1)) !== checkpoint_id) {
      const asking = grown(grown(assistant(), { type: "meta", phase: "interrupt", checkpoint_id }), { type: "interrupt" });
      this.set({ messages: [...this.state.messages, asking] });
    }
    this.set({ interrupt: { checkpoint_id, payload }, decisions: {} });
  }

  /** Sends a new message at the end of the branch. */
  send = ({ content, attachments }) => this.run([...this.state.messages, user(content, attachments ?? [])]);

  /** Sends an edited message: a sibling of the original. */
  edit = ({ parentId, content, attachments }) => this.run([...this.upTo(parentId), user(content, attachments ?? [])]);

  /** Requests another answer to the message parentId. */
  reload = (parentId) => this.run(this.upTo(parentId));

  upTo(id) {
    const { messages } = this.state;
    return messages.slice(0, messages.findIndex((m) => m.id === id) + 1);
  }

  run(messages) {
    const before = messages.slice(0, -1);
    const checkpoint = checkpointOf(before.findLast((m) => m.role === "assistant"));
    const message = { role: "human", content: contentOf(messages.at(-1)) };
    // An edited first message has no checkpoint before it, so it begins at the root.
    const checkpoint_id = checkpoint ?? (this.used ? "root" : null);
    this.set({ interrupt: null });
    return this.follow([...messages, assistant()], (signal) => sendMessage({ thread_id: this.threadId, checkpoint_id, message, messages: [message] }, signal));
  }

  /** Stores a decision about a tool call. When every call has one, sends them all. */
  decide = (decision) => {
    const { interrupt } = this.state;
    const decisions = { ...this.state.decisions, [decision.id]: decision };
    this.set({ decisions });
    const all = interrupt.payload.tool_calls.map((call) => decisions[call.id]);
    if (all.every(Boolean)) return this.feedback({ type: "tool_approval", decisions: all });
  };

  answer = (value) => this.feedback({ type: "answer", value });

  feedback(approval_data) {
    const { messages, interrupt } = this.state;
    const going = { ...messages.at(-1), status: { type: "running" } };
    this.set({ interrupt: null });
    return this.follow([...messages.slice(0, -1), going], (signal) =>
      sendFeedback({ thread_id: this.threadId, checkpoint_id: interrupt.checkpoint_id, approval_data }, signal),
    );
  }

  /** Opens a stream and shows its events in the last message until it ends. */
  async follow(messages, open) {
    this.aborter = new AbortController();
    this.set({ messages, isRunning: true });
    let last = messages.at(-1);
    let asked = null;
    const grow = (event) => {
      last = grown(last, event);
      this.set({ messages: [...messages.slice(0, -1), last] });
    };
    try {
      for await (const event of open(this.aborter.signal)) {
        if (event.type === "interrupt") asked = event.payload;
        grow(event);
      }
    } catch (err) {
      grow({ type: "error", error: err.message });
    }
    const interrupt = asked && { checkpoint_id: checkpointOf(last), payload: asked };
    this.set({ isRunning: false, interrupt, decisions: {}, saved: false });
  }

  cancel = async () => this.aborter?.abort();
}
