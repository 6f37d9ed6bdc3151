// A model that sends one piece per step, so that a turn lasts as long as a test needs.
// The passages must contain its quotations.
import { Answer, refuse, startModelServer } from "./model-server.mjs";

const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FAAhKDveksOjmAAAAAElFTkSuQmCC";

/**
 * Answers with its pieces, one every stepMs, and pauses after hold pieces until hold is raised, and while
 * waits(body) holds for the request. While failing is set, it
 * responds with an error: 500 if failing is true, otherwise that status. Structured answers wait for
 * the promise thinking, pictures for drawing. Each entry of calls, a list of {name, args}, is requested once, after the
 * pieces of an answer.
 */
export async function startSlowModel(pieces, stepMs) {
  const model = { pieces, failing: false, hold: Infinity, waits: undefined, calls: [], thinking: undefined, drawing: undefined };
  const before = async (res, fixed) => {
    if (model.failing) refuse(res, model.failing === true ? 500 : model.failing);
    else if (fixed) await model.thinking;
    return model.failing;
  };
  const { url, stop } = await startModelServer((res, body, fixed) => {
    const answer = new Answer(res);
    const calls = body.tools ? model.calls.shift() : undefined;
    const todo = fixed ? [fixed] : [...model.pieces];
    const timer = setInterval(
      () => {
        if (!fixed && (model.pieces.length - todo.length >= model.hold || model.waits?.(body))) return;
        const piece = todo.shift();
        if (piece !== undefined) return answer.say(piece);
        clearInterval(timer);
        answer.end(calls);
      },
      fixed ? 1 : stepMs,
    );
    res.on("close", () => clearInterval(timer));
  }, before, async () => {
    await model.drawing;
    return PICTURE;
  });
  return Object.assign(model, {
    /** For startStack. The long timeout lets a test pause the model. */
    settings: { LLM_BASE_URL: url, LLM_API_KEY: "none", CHAT_MODEL_PROVIDER: "openai-compatible", CHAT_MODEL_NAME: "slow", LLM_FIRST_BYTE_TIMEOUT: "120s" },
    stop,
  });
}
