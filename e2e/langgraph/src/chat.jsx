// The chat, made of assistant-ui's external-store runtime over a Thread, and its primitives.
import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  AttachmentPrimitive,
  BranchPickerPrimitive,
  ComposerPrimitive,
  ErrorPrimitive,
  MessagePartPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useExternalStoreRuntime,
} from "@assistant-ui/react";
import { Repo, visionImages } from "./api.js";
import { Thread } from "./thread.js";

const ThreadContext = createContext(null);

/** Makes dates from strings again, because JSON has no dates. */
const revived = (repo) => ({
  ...repo,
  messages: repo.messages.map(({ message, ...rest }) => ({ ...rest, message: { ...message, createdAt: new Date(message.createdAt) } })),
});

export function Chat({ threadId }) {
  const thread = useMemo(() => new Thread(threadId), [threadId]);
  const repo = useMemo(() => new Repo(threadId), [threadId]);
  const state = useSyncExternalStore(thread.subscribe, thread.snapshot);
  const [loaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState("");
  const runtime = useExternalStoreRuntime({
    messages: state.messages,
    isRunning: state.isRunning,
    setMessages: thread.show,
    onImport: thread.load,
    onNew: thread.send,
    onEdit: thread.edit,
    onReload: thread.reload,
    onCancel: thread.cancel,
    adapters: { attachments: visionImages },
  });

  useEffect(() => {
    (async () => {
      const kept = await repo.read();
      if (kept) runtime.thread.import(revived(kept));
      await thread.rehydrate();
      setLoaded(true);
    })().catch((err) => setProblem(err.message));
  }, [repo, runtime, thread]);

  useEffect(() => {
    if (!loaded || state.isRunning || state.saved) return;
    thread.set({ saved: true });
    repo.write(runtime.thread.export()).catch((err) => setProblem(err.message));
  }, [loaded, repo, runtime, state.isRunning, state.saved, thread]);

  return (
    <ThreadContext value={{ ...state, decide: thread.decide, answer: thread.answer }}>
      <AssistantRuntimeProvider runtime={runtime}>
        {problem && <p role="alert">{problem}</p>}
        {loaded && <ThreadView />}
      </AssistantRuntimeProvider>
    </ThreadContext>
  );
}

function ThreadView() {
  const { interrupt } = useContext(ThreadContext);
  return (
    <ThreadPrimitive.Root>
      <ThreadPrimitive.Viewport>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage, EditComposer }} />
      </ThreadPrimitive.Viewport>
      {interrupt?.payload.type === "question" && <Question {...interrupt.payload} />}
      <ComposerPrimitive.Root aria-label="Message">
        <ComposerPrimitive.Attachments components={{ Attachment: AttachmentPrimitive.Name }} />
        <ComposerPrimitive.AddAttachment>Attach</ComposerPrimitive.AddAttachment>
        <ComposerPrimitive.Input aria-label="Text" />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}

function UserMessage() {
  return (
    <MessagePrimitive.Root>
      <article aria-label="You">
        <MessagePrimitive.Parts components={{ Text }} />
        <MessagePrimitive.Attachments components={{ Image: Picture }} />
        <ActionBarPrimitive.Root>
          <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
        </ActionBarPrimitive.Root>
        <Branches />
      </article>
    </MessagePrimitive.Root>
  );
}

const Picture = () => (
  <AttachmentPrimitive.Root>
    <AttachmentPrimitive.Name />
  </AttachmentPrimitive.Root>
);

function AssistantMessage() {
  return (
    <MessagePrimitive.Root>
      <article aria-label="Assistant">
        <MessagePrimitive.Parts components={{ Text, tools: { by_name: { generate_image: ImageCard }, Fallback: ToolCard } }} />
        <MessagePrimitive.Error>
          <ErrorPrimitive.Root>
            <ErrorPrimitive.Message />
          </ErrorPrimitive.Root>
        </MessagePrimitive.Error>
        <ActionBarPrimitive.Root hideWhenRunning>
          <ActionBarPrimitive.Reload>Again</ActionBarPrimitive.Reload>
        </ActionBarPrimitive.Root>
        <Branches />
      </article>
    </MessagePrimitive.Root>
  );
}

/** Shows text as it arrives, without assistant-ui's smoothing animation, which lags behind. */
const Text = () => <MessagePartPrimitive.Text smooth={false} />;

function EditComposer() {
  return (
    <ComposerPrimitive.Root aria-label="Edit">
      <ComposerPrimitive.Input aria-label="Edited text" />
      <ComposerPrimitive.Send>Save</ComposerPrimitive.Send>
    </ComposerPrimitive.Root>
  );
}

function Branches() {
  return (
    <BranchPickerPrimitive.Root hideWhenSingleBranch>
      <BranchPickerPrimitive.Previous>Previous</BranchPickerPrimitive.Previous>
      <span role="status">
        <BranchPickerPrimitive.Number /> of <BranchPickerPrimitive.Count />
      </span>
      <BranchPickerPrimitive.Next>Next</BranchPickerPrimitive.Next>
    </BranchPickerPrimitive.Root>
  );
}

/** Shows a tool call, the form for the decision while it waits for one, and its result. */
function ToolCard({ toolCallId, toolName, args, result, children }) {
  const { interrupt, decisions } = useContext(ThreadContext);
  const asked = interrupt?.payload.tool_calls?.find((call) => call.id === toolCallId);
  return (
    <section aria-label={`Tool ${toolName}`}>
      <code>{JSON.stringify(args)}</code>
      {asked && !decisions[toolCallId] && <Decision call={asked} />}
      {result !== undefined && <output>{String(result)}</output>}
      {children}
    </section>
  );
}

function Decision({ call }) {
  const { decide } = useContext(ThreadContext);
  const [text, setText] = useState(JSON.stringify(call.arguments));
  return (
    <fieldset>
      <textarea aria-label="Arguments" value={text} onChange={(e) => setText(e.target.value)} />
      <button onClick={() => decide({ id: call.id, decision: "approved", arguments: JSON.parse(text) })}>Approve</button>
      <button onClick={() => decide({ id: call.id, decision: "rejected" })}>Reject</button>
    </fieldset>
  );
}

function ImageCard(props) {
  const address = String(props.result ?? "").match(/\/api\/attachments\/[\w-]+/)?.[0];
  return <ToolCard {...props}>{address && <img src={address} alt={props.args.prompt} />}</ToolCard>;
}

function Question({ message, options }) {
  const { answer } = useContext(ThreadContext);
  const [text, setText] = useState("");
  return (
    <section aria-label="Question">
      <p>{message}</p>
      {options.map((option) => (
        <button key={option.id} onClick={() => answer(option.id)}>
          {option.label}
        </button>
      ))}
      {options.length === 0 && (
        <form onSubmit={(e) => (e.preventDefault(), answer(text))}>
          <input aria-label="Answer" value={text} onChange={(e) => setText(e.target.value)} />
        </form>
      )}
    </section>
  );
}
