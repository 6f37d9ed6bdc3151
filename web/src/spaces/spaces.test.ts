// @vitest-environment jsdom
import { afterEach, expect, it } from "vitest";
import { currentSpace, setSpace } from "../api/space";
import { beginInSpace, rememberSpace } from "./choice";
import { mustLeave, type Space } from "./spaces";

const ID = "0190a0a0-0000-7000-8000-00000000000a";
const OTHER = "0190a0a0-0000-7000-8000-00000000000b";
const space = (id: string, more: Partial<Space> = {}): Space => ({ id, name: "Team", public_documents: true, public_links: false, tool_servers: ["*"], role: "reader", created_at: "", ...more });

afterEach(() => {
  setSpace("");
  rememberSpace("");
  history.replaceState(null, "", "/");
});

it("the page leaves a space when the server no longer lists it, or it was deleted", () => {
  expect(mustLeave(ID, undefined)).toBe(false); // not known yet
  expect(mustLeave(ID, [space(OTHER), space(ID)])).toBe(false);
  expect(mustLeave(ID, [space(OTHER)])).toBe(true);
  expect(mustLeave(ID, [space(ID, { deleted_at: "2026-01-01" })])).toBe(true);
  expect(mustLeave("", [])).toBe(false);
});

it("a new tab begins in the space that was chosen last, but an address says where it is", () => {
  rememberSpace(ID);
  beginInSpace();
  expect([currentSpace(), location.search]).toEqual([ID, `?space=${ID}`]);

  setSpace(OTHER); // as the address says
  beginInSpace();
  expect(currentSpace()).toBe(OTHER);

  setSpace("");
  history.replaceState(null, "", `/chat/${ID}`); // a chat of the person's own
  beginInSpace();
  expect(currentSpace()).toBe("");
});
