// What a program does with the client, in any runtime: it must not use anything of Node.
import { createClient } from "@palaver/client";

/**
 * Sends, follows and stops turns. The proxy at cut cuts streams after each event. A request to
 * hold says after how many pieces the model waits.
 */
export async function scenario({ url, cut, token, hold }) {
  const holdAfter = (pieces) => fetch(`${hold}/${pieces}`);
  const seen = (turn, text) =>
    new Promise((resolve, reject) => {
      const look = () => turn.snapshot().text.includes(text) && resolve();
      turn.subscribe(look);
      turn.done.then(() => reject(new Error(`the turn ended without ${text}: ${JSON.stringify(turn.snapshot())}`)), reject);
      look();
    });

  await holdAfter(3);
  const thread = createClient({ baseUrl: url, token }).thread();
  const first = thread.send("When?", { agent: "assistant" });
  await seen(first, "word2");
  thread.detach();
  const detached = await first.done.catch((err) => err.code);

  const other = createClient({ baseUrl: cut, token, backoff: [1] }).thread(thread.id);
  const attached = await other.attach();
  await seen(attached, "word2");
  await holdAfter(100);
  const events = [];
  for await (const event of attached) events.push(event);
  const ids = events.map((e) => e.event_id);

  await holdAfter(3);
  const second = thread.send("And then?", { agent: "assistant" });
  await seen(second, "word2");
  await thread.stop();
  const stopped = await second.done;
  return {
    detached,
    answer: events.at(-1).response,
    pieces: events.filter((e) => e.type === "token").map((e) => e.content).join(""),
    repeated: ids.length - new Set(ids).size,
    stopped: [stopped.status, stopped.text],
    messages: (await thread.history()).messages.map((m) => m.content),
  };
}
