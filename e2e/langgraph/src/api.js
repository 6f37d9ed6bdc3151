// Calls the endpoints of the LangGraph dialect (/api/v1).

const JSON_BODY = { "Content-Type": "application/json" };

async function refused(res) {
  const body = await res.json().catch(() => ({}));
  return new Error(body.error?.message ?? `status ${res.status}`);
}

/** Yields the events of a stream until [DONE]. */
async function* stream(path, body, signal) {
  const res = await fetch(path, { method: "POST", headers: JSON_BODY, body: JSON.stringify(body), signal });
  if (!res.ok) throw await refused(res);
  let rest = "";
  for await (const piece of res.body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      if (!block.startsWith("data: ")) continue;
      const data = block.slice("data: ".length);
      if (data === "[DONE]") return;
      yield JSON.parse(data);
    }
  }
  throw new Error("the stream ended early");
}

export const sendMessage = (body, signal) => stream("/api/v1/chat/stream", body, signal);
export const sendFeedback = (body, signal) => stream("/api/v1/chat/feedback", body, signal);

export async function readInterrupt(threadId, checkpointId) {
  const query = new URLSearchParams({ thread_id: threadId });
  if (checkpointId) query.set("checkpoint_id", checkpointId);
  const res = await fetch(`/api/v1/chat/interrupt?${query}`);
  if (!res.ok) throw await refused(res);
  return res.json();
}

/** A thread's message repository on the server. Writes run one after another; each names the version that it replaces. */
export class Repo {
  constructor(threadId) {
    this.path = `/api/v1/threads/${encodeURIComponent(threadId)}/repo`;
    this.version = 0;
    this.writes = Promise.resolve();
  }

  async read() {
    const res = await fetch(this.path);
    if (!res.ok) throw await refused(res);
    this.version = Number(JSON.parse(res.headers.get("ETag")));
    return (await res.json()).repo;
  }

  write(repo) {
    const body = JSON.stringify({ repo });
    this.writes = this.writes.then(async () => {
      const res = await fetch(this.path, { method: "PUT", headers: { ...JSON_BODY, "If-Match": `"${this.version}"` }, body });
      if (!res.ok) throw await refused(res);
      this.version = (await res.json()).repo_version;
    });
    return this.writes;
  }
}

async function upload(file) {
  const form = new FormData();
  form.append("file", file);
  const res = await fetch("/api/attachments", { method: "POST", body: form });
  if (!res.ok) throw await refused(res);
  return res.json();
}

/** Uploads pictures when they are sent; the message refers to them as chatbot://<id>. */
export const visionImages = {
  accept: "image/jpeg,image/png,image/webp",
  async add({ file }) {
    return { id: crypto.randomUUID(), type: "image", name: file.name, contentType: file.type, file, status: { type: "requires-action", reason: "composer-send" } };
  },
  async send({ file, ...attachment }) {
    const { id } = await upload(file);
    return { ...attachment, status: { type: "complete" }, content: [{ type: "image", image: `chatbot://${id}` }] };
  },
  async remove() {},
};
