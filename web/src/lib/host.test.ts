import { describe, expect, it } from "vitest";
import { hostOf, namesHost } from "./host";

const here = "https://chat.example.com/chat/1";

describe("the target of a link", () => {
  it.each([
    ["https://evil.example/login", "evil.example"],
    ["https://evil.example:8443/", "evil.example:8443"],
    ["https://bank.example@evil.example/", "evil.example"],
    ["https://bank.example%2f@evil.example/", "evil.example"],
    ["//evil.example/x", "evil.example"],
    ["https:evil.example", ""],
    ["https://b\u0430nk.example/", "xn--bnk-6cd.example"],
    ["http://2130706433/", "127.0.0.1"],
    ["mailto:ann@evil.example", "ann@evil.example"],
    ["http://chat.example.com/", "chat.example.com"],
    ["/documents/1", ""],
    ["#top", ""],
    ["https://chat.example.com/x", ""],
    ["http://[", ""],
  ])("%s: %s", (href, host) => expect(hostOf(href, here)).toBe(host));
});

describe("a link's text", () => {
  it.each(["https://evil.example/login", "evil.example", "HTTPS://Evil.example", " https://evil.example/a?b "])("shows the target: %s", (text) =>
    expect(namesHost(text, "evil.example")).toBe(true),
  );
  it.each(["https://bank.example", "bank.example", "Sign in", "https://evil.example@bank.example/", "evil.example.bank.example", "evil.example is safe", ""])("does not show the target: %s", (text) =>
    expect(namesHost(text, "evil.example")).toBe(false),
  );
  it("can be a mail address", () => expect(namesHost("mailto:ann@evil.example", "ann@evil.example")).toBe(true));
});
