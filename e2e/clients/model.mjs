// A model with scripted answers.
import { Answer, refuse, startModelServer } from "../model-server.mjs";

/**
 * Streams answers in the order in which they are given to says(). An answer is
 * {say: [text or promise to wait for, …], calls: [{name, args}], cut, status}.
 */
export async function startModel() {
  const answers = [];
  const asked = []; // the prompts of the streams, as JSON
  let disconnects = 0;
  const next = (body) => {
    asked.push(JSON.stringify(body.messages));
    return answers.shift() ?? { say: ["Well."] };
  };
  const { url, stop } = await startModelServer(async (res, body, fixed) => {
    const script = fixed ? { say: [fixed] } : next(body);
    if (script.status) return refuse(res, script.status);
    res.on("close", () => res.writableFinished || disconnects++);
    const answer = new Answer(res);
    answer.say("");
    for (const piece of script.say ?? []) {
      if (typeof piece === "string") answer.say(piece);
      else await piece;
    }
    if (script.cut) return res.destroy();
    answer.end(script.calls);
  });
  return {
    url,
    stop,
    asked,
    /** The number of streams whose client disconnected early. */
    disconnects: () => disconnects,
    says: (...list) => answers.push(...list),
  };
}
