// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { clearStorage } from "../lib/storage";
import { docOf, messageContent } from "./outgoing";
import { submission } from "../thread/bodies";
import { keepSpaces, moveScope, scopeOf, setScope, within } from "./scope";

const leave = { docs: [{ id: "a", title: "Leave" }], sets: [{ id: "s", title: "Rules" }] };

describe("the documents that a conversation may use", () => {
  beforeEach(clearStorage);

  it("are all until some are chosen, and are stored for each conversation", () => {
    expect(scopeOf("t")).toBeNull();
    setScope("t", leave);
    expect(scopeOf("t")).toEqual(leave);
    expect(scopeOf("t")).toBe(scopeOf("t"));
    expect(scopeOf("u")).toBeNull();
    setScope("t", null);
    expect(scopeOf("t")).toBeNull();
    setScope("t", { docs: [], sets: [] });
    expect(scopeOf("t")).toBeNull();
  });

  it("are moved from the welcome page to the conversation that starts there, but not to the next one", () => {
    setScope(null, leave);
    moveScope("t");
    expect([scopeOf("t"), scopeOf(null)]).toEqual([leave, null]);
    moveScope("u");
    expect(scopeOf("u")).toBeNull();
  });

  it("are the documents of a message that mentions none", () => {
    const plain = messageContent(docOf("How many days?"));
    expect(within(plain, leave)).toMatchObject({ taggedDocIds: ["a"], taggedSetIds: ["s"] });
    expect(within(plain, null)).toBe(plain);
    const own = { ...plain, taggedDocIds: ["b"] };
    expect(within(own, leave)).toEqual(own);
  });

  it("can leave out the web, unless a message mentions it", () => {
    setScope("t", { docs: [], sets: [], noWeb: true });
    const plain = messageContent(docOf("What is the latest rule?"));
    expect(within(plain, scopeOf("t"))).toMatchObject({ noWeb: true, taggedDocIds: [] });
    expect(submission("t", { ...within(plain, scopeOf("t")), attachments: [], onBusy: "supersede" }, "c", undefined, "supersede")).toMatchObject({ web_search: "never" });
    const mentioned = { ...plain, webSearch: true };
    expect(within(mentioned, scopeOf("t"))).not.toHaveProperty("noWeb");
  });

  it("can have spaces, also for a message that mentions a document", () => {
    setScope("t", { docs: [], sets: [], spaces: [{ id: "team", title: "Team" }] });
    const own = { ...messageContent(docOf("What must the ratio be?")), taggedDocIds: ["b"] };
    const content = within(own, scopeOf("t"));
    expect(content).toMatchObject({ taggedDocIds: ["b"], spaceIds: ["team"] });
    expect(submission("t", { ...content, attachments: [], onBusy: "supersede" }, "c", undefined, "supersede")).toMatchObject({ space_ids: ["team"] });
  });

  it("leave out a space that the person no longer has, so that messages are not refused", () => {
    setScope("t", { docs: [], sets: [], spaces: [{ id: "team", title: "Team" }, { id: "lost", title: "Lost" }], noWeb: true });
    keepSpaces("t", new Set(["team"]));
    expect(scopeOf("t")).toEqual({ docs: [], sets: [], spaces: [{ id: "team", title: "Team" }], noWeb: true });
    setScope("u", { docs: [], sets: [], spaces: [{ id: "lost", title: "Lost" }] });
    keepSpaces("u", new Set(["team"]));
    expect(scopeOf("u")).toBeNull();
  });

  it("are all if the stored value is invalid", () => {
    localStorage.setItem("palaver.scope.t", '{"docs":[1,{"id":"a"},{"id":"b","title":"B"}],"sets":"x"}');
    expect(scopeOf("t")).toEqual({ docs: [{ id: "b", title: "B" }], sets: [] });
  });
});
