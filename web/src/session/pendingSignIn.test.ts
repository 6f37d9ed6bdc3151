// @vitest-environment jsdom
import { beforeEach, describe, expect, it } from "vitest";
import { clearPendingSignIn, pendingSignIn, returnParameters, savePendingSignIn, userIdOf } from "./pendingSignIn";

beforeEach(() => localStorage.clear());

describe("a pending sign-in", () => {
  it("keeps the path of the page until it is cleared", () => {
    history.replaceState(null, "", "/chat/0190a0a0-0000-7000-8000-000000000000?x=1");
    expect(pendingSignIn()).toBeUndefined();
    savePendingSignIn();
    expect(pendingSignIn()).toEqual({ path: "/chat/0190a0a0-0000-7000-8000-000000000000" });
    clearPendingSignIn();
    expect(pendingSignIn()).toBeUndefined();
  });

  it.each(["//evil.example", "https://evil.example", "/\\evil.example", "/a?b", "", 3])("has the path / instead of %j", (path) => {
    localStorage.setItem("palaver.signIn", JSON.stringify({ path }));
    expect(pendingSignIn()).toEqual({ path: "/" });
  });
});

it.each([
  ["https://p.example/?code=abc", "code"],
  ["https://p.example/?error=access_denied&error_code=otp_expired", "error_code"],
  ["https://p.example/#access_token=x&refresh_token=y", "access_token"],
  ["https://p.example/#error_description=x", "error_description"],
])("%s is a redirect from Supabase", (address, has) => expect(returnParameters(new URL(address))?.has(has)).toBe(true));

it.each(["https://p.example/", "https://p.example/chat/x?connect=google#top"])("%s is no redirect from Supabase", (address) => expect(returnParameters(new URL(address))).toBeUndefined());

it.each([
  [JSON.stringify({ user: { id: "u" } }), "u"],
  ["{}", undefined],
  ["not JSON", undefined],
  ["null", undefined],
  [null, undefined],
])("the user id in the stored session %s is %s", (stored, id) => expect(userIdOf(stored)).toBe(id));
