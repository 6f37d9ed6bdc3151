import { expect, it } from "vitest";
import { errorOf } from "./http";

const words = async (status: number, error: object) => (await errorOf(Response.json({ error }, { status }))).message;

it("says which field was refused, in a person's words where there are some", async () => {
  const message = "The request has fields that cannot be used.";
  expect(await words(400, { message, details: [{ field: "resume.resume_value.tagged_doc_ids", problem: "names a document that does not exist" }] })).toBe("A document that is mentioned does not exist any more.");
  expect(await words(400, { message, details: [{ field: "action", problem: "must be one of four" }] })).toBe(`${message} (action must be one of four)`);
  expect(await words(400, { message, details: [7] })).toBe(message);
  expect(await words(409, { message, details: [{ field: "turn_id", problem: "x" }] })).toBe(message);
  expect(await words(502, {})).toBe("The server is not ready. Please try again in a moment.");
});
