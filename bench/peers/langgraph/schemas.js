// Schemas of the structured answers.
import { z } from "zod";

const confidence = z.enum(["high", "medium", "low"]);
const action = z.enum(["summarize", "inquire", "compare", "audit"]);

export const Intent = z.object({
  action,
  confidence,
  enable_web_search: z.boolean(),
  multi_action_detected: z.boolean(),
  actions: z.array(action),
  reasoning: z.string(),
});

export const Documents = z.object({
  resolved_uuids: z.array(z.string()),
  unresolved_names: z.array(z.string()),
  inference_confidence: confidence,
  has_implicit_refs: z.boolean(),
  reasoning: z.string(),
});
