import { describe, expect, it } from "vitest";
import { Host, tokensOf } from "./host";

const ORIGIN = "https://app.example.com";

/** A page around the frame. */
function around(origin = ORIGIN) {
  const told: { message: { type?: string; id?: number }; to: string }[] = [];
  const source = { postMessage: (message: object, to: string) => void told.push({ message, to }) } as unknown as Window;
  const host = new Host(ORIGIN, source, 5);
  const say = (data: object, from: unknown = source) => host.hear({ source: from as Window, origin, data: { palaver: 1, ...data } });
  return { told, host, say };
}

describe("the page around the frame", () => {
  it("gives a token, which is kept until the server refuses it", async () => {
    const { told, host, say } = around();
    const tokens = tokensOf(host);
    const both = Promise.all([tokens.current(), tokens.current()]);
    expect(told).toEqual([{ message: { palaver: 1, type: "token", id: 1 }, to: ORIGIN }]);
    say({ type: "token", id: 1, token: "one" });
    expect(await both).toEqual(["one", "one"]);
    expect(await tokens.current()).toBe("one");
    const renewed = tokens.renew("one");
    say({ type: "token", id: 2, token: "two" });
    expect(await renewed).toBe("two");
    expect(await tokens.renew("one")).toBe("two");
    expect(tokens.newest()).toBe("two");
  });

  it("takes messages only from its own window and origin", async () => {
    const foreign = around("https://evil.example.com");
    const asked = foreign.host.token();
    foreign.say({ type: "token", id: 1, token: "stolen" });
    await expect(asked).rejects.toThrow();

    const { host, say } = around();
    let focused = 0;
    host.onFocus = () => focused++;
    say({ type: "focus" }, {});
    say({ type: "focus", palaver: 2 });
    expect(focused).toBe(0);
    say({ type: "focus" });
    expect(focused).toBe(1);
  });

  it("that gives no token leads to a failed request, never to an anonymous one", async () => {
    const { host, say } = around();
    const refused = tokensOf(host).current();
    say({ type: "token", id: 1, token: undefined });
    await expect(refused).rejects.toThrow();
    await expect(tokensOf(host).current()).rejects.toThrow();
  });

  it("without tokens has an anonymous person", async () => {
    expect(await tokensOf(undefined).current()).toBeUndefined();
  });
});
