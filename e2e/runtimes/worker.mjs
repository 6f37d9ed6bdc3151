// Runs the scenario for a request to a worker. Responds with its result.
import { scenario } from "./scenario.mjs";

export default {
  async fetch(request) {
    try {
      return Response.json({ runtime: navigator.userAgent, node: typeof process, ...(await scenario(await request.json())) });
    } catch (err) {
      return new Response(err.stack, { status: 500 });
    }
  },
};
