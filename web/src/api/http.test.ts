import { expect, it } from "vitest";
import { errorOf } from "./http";

const words = async (status: number, error: object) => (await errorOf(Response.json({ error }, { status }))).message;

it("names the rejected field, with the page's own text if it has one", async () => {
  const message = "Part of this request isn't valid.";
  const error = { code: "validation_failed", message: "The request has fields that cannot be used.", message_code: "request.invalid" };
  expect(await words(400, { ...error, details: [{ field: "resume.resume_value.tagged_doc_ids", problem: "names a document that does not exist", message_code: "field.document" }] })).toBe("A document you mentioned no longer exists.");
  expect(await words(400, { ...error, details: [{ field: "action", problem: "must be one of four" }] })).toBe(`${message} (action must be one of four)`);
  for (const field of ["message.parts", "message.parts[1].url"])
    expect(await words(400, { ...error, details: [{ field, problem: "names an attachment that does not exist", message_code: "field.attachment" }] })).toBe("An image is no longer available. Add it again.");
  expect(await words(400, { ...error, details: [7] })).toBe(message);
  expect(await words(409, { ...error, details: [{ field: "turn_id", problem: "x" }] })).toBe(message);
  expect(await words(502, {})).toBe("The server isn't ready. Try again in a moment.");
});
