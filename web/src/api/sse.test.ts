import { describe, expect, it } from "vitest";
import { SSEParser, type SSEMessage } from "../../../clients/typescript/src/sse";
import { decode } from "./stream";

const whole = (text: string): SSEMessage[] => new SSEParser().push(text);

describe("SSEParser", () => {
  it.each([
    ["one message", "data: a\n\n", [{ data: "a" }]],
    ["two messages", "data: a\n\ndata: b\n\n", [{ data: "a" }, { data: "b" }]],
    ["an id", "id: t.3\ndata: a\n\n", [{ data: "a", id: "t.3" }]],
    ["an id belongs to its message only", "id: 1\ndata: a\n\ndata: b\n\n", [{ data: "a", id: "1" }, { data: "b" }]],
    ["comments and unknown fields are ignored", ": ping\n\nevent: x\nretry: 5\ndata: a\n\n", [{ data: "a" }]],
    ["several data lines join", "data: a\ndata: b\n\n", [{ data: "a\nb" }]],
    ["no space after the colon", "data:a\n\n", [{ data: "a" }]],
    ["only one space is dropped", "data:  a\n\n", [{ data: " a" }]],
    ["carriage returns", "data: a\r\n\r\ndata: b\r\rx", [{ data: "a" }, { data: "b" }]],
    ["a cut message is not delivered", "data: a\n\ndata: half", [{ data: "a" }]],
    ["blank lines alone are nothing", "\n\n\n", []],
  ])("%s", (_, text, want) => expect(whole(text)).toEqual(want));

  it("returns the same messages wherever the bytes are split", () => {
    const text = ': hi\r\n\r\nid: t.1\r\ndata: {"a":"ä[1]\\n"}\r\n\r\ndata: x\ndata: y\n\n: ping\n\ndata: z\n\n';
    const want = whole(text);
    expect(want).toHaveLength(3);
    for (let a = 0; a <= text.length; a++) {
      for (let b = a; b <= text.length; b++) {
        const p = new SSEParser();
        expect([...p.push(text.slice(0, a)), ...p.push(text.slice(a, b)), ...p.push(text.slice(b))]).toEqual(want);
      }
    }
  });
});

describe("decode", () => {
  it.each(["[DONE]", "", "null", "7", '"x"', "{}", '{"type":3}', "{"])("returns null for %j, which is no event", (data) => expect(decode(data)).toBeNull());
  it("reads an event", () => expect(decode('{"type":"token","content":"a"}')).toEqual({ type: "token", content: "a" }));
});
