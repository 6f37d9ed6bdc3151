// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { begin, begun, comeBack, ended, userOf } from "./begun";

beforeEach(() => localStorage.clear());

describe("a sign-in that began here", () => {
  it("knows where the page was, until the chats have come along", () => {
    history.replaceState(null, "", "/chat/0190a0a0-0000-7000-8000-000000000000?x=1");
    expect(begun()).toBeUndefined();
    begin();
    expect(begun()).toEqual({ path: "/chat/0190a0a0-0000-7000-8000-000000000000" });
    ended();
    expect(begun()).toBeUndefined();
  });

  it.each(["//evil.example", "https://evil.example", "/\\evil.example", "/a?b", "", 3])("goes to the first page instead of %j", (path) => {
    localStorage.setItem("palaver.signIn", JSON.stringify({ path }));
    expect(begun()).toEqual({ path: "/" });
  });
});

it.each([
  ["https://p.example/?code=abc", "code"],
  ["https://p.example/?error=access_denied&error_code=otp_expired", "error_code"],
  ["https://p.example/#access_token=x&refresh_token=y", "access_token"],
  ["https://p.example/#error_description=x", "error_description"],
])("%s comes from Supabase", (address, has) => expect(comeBack(new URL(address))?.has(has)).toBe(true));

it.each(["https://p.example/", "https://p.example/chat/x?connect=google#top"])("%s does not", (address) => expect(comeBack(new URL(address))).toBeUndefined());

it.each([
  [JSON.stringify({ user: { id: "u" } }), "u"],
  ["{}", undefined],
  ["not JSON", undefined],
  ["null", undefined],
  [null, undefined],
])("the user of the stored session %s is %s", (stored, id) => expect(userOf(stored)).toBe(id));
