import { expect, test } from "vitest";
import { effortField } from "../composer/EffortMenu";
import type { Outgoing } from "../composer/types";
import { submission } from "./bodies";

const out: Outgoing = { text: "Hi", tiptap: { type: "doc" }, taggedDocIds: [], taggedSetIds: [], webSearch: false, attachments: [], onBusy: "supersede" };

test("a message has the effort that the person chose, and none by default", () => {
  expect(submission("t", { ...out, ...effortField("thorough") }, "c", undefined, "supersede")).toMatchObject({ effort: "thorough" });
  expect(submission("t", { ...out, ...effortField("default") }, "c", undefined, "supersede")).not.toHaveProperty("effort");
});
