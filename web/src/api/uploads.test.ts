import { beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError } from "./http";
import { sendFile } from "./upload";
import { Uploads } from "./uploads";

vi.mock("./upload", () => ({ sendFile: vi.fn() }));
const sent = vi.mocked(sendFile);

/** Uploads that the test completes. */
interface Open {
  name: string;
  end: (answer: unknown) => void;
  fail: (err: unknown) => void;
  progress: (share: number) => void;
}
let open: Open[];

beforeEach(() => {
  open = [];
  sent.mockImplementation((_path, file, { onProgress, signal }) =>
    new Promise((end, fail) => {
      signal.addEventListener("abort", () => fail(new DOMException("aborted", "AbortError")));
      open.push({ name: file.name, end: end as (answer: unknown) => void, fail, progress: onProgress });
    }),
  );
});

const file = (name: string, size = 3) => new File(["x".repeat(size)], name);

describe("uploads", () => {
  it("report progress, and disappear when the server has accepted the file", async () => {
    const uploads = new Uploads();
    const seen = vi.fn();
    uploads.subscribe(seen);
    const done = uploads.send("/x", file("a.md"), 10);
    open[0]!.progress(0.5);
    expect(uploads.items()).toMatchObject([{ name: "a.md", progress: 0.5 }]);
    open[0]!.end({ id: "1" });
    expect(await done).toEqual({ id: "1" });
    expect(uploads.items()).toEqual([]);
    expect(seen).toHaveBeenCalled();
  });

  it("run three at a time and queue the others", async () => {
    const uploads = new Uploads();
    const all = ["a", "b", "c", "d"].map((name) => uploads.send("/x", file(name), 10));
    expect(open.map((o) => o.name)).toEqual(["a", "b", "c"]);
    open[1]!.end({});
    await all[1];
    await vi.waitFor(() => expect(open.map((o) => o.name)).toEqual(["a", "b", "c", "d"]));
  });

  it("do not send empty or too large files", async () => {
    const uploads = new Uploads();
    expect(await uploads.send("/x", file("a", 0), 10)).toBeNull();
    expect(await uploads.send("/x", file("b", 11), 10)).toBeNull();
    expect(uploads.items()).toMatchObject([{ name: "a", error: "a is empty." }, { name: "b", error: expect.stringContaining("larger") }]);
    expect(open).toEqual([]);
  });

  it("show why a file was rejected until the error is dismissed", async () => {
    const uploads = new Uploads();
    const done = uploads.send("/x", file("a.bin"), 10);
    open[0]!.fail(new ApiError(415, "unsupported_type", "It cannot be read."));
    expect(await done).toBeNull();
    expect(uploads.items()).toMatchObject([{ name: "a.bin", error: "a.bin: It cannot be read." }]);
    uploads.dismiss(uploads.items()[0]!.key);
    expect(uploads.items()).toEqual([]);
  });

  it("do not send too large files", async () => {
    const uploads = new Uploads();
    expect(await uploads.send("/x", file("big", 11), 10)).toBeNull();
    expect(open).toEqual([]);
    expect(uploads.items()[0]?.error).toContain("larger");
  });

  it("cancel a file", async () => {
    const uploads = new Uploads();
    const done = uploads.send("/x", file("a"), 10);
    uploads.dismiss(uploads.items()[0]!.key);
    expect(await done).toBeNull();
    expect(uploads.items()).toEqual([]);
  });

  it("are all cancelled at once, including queued ones", async () => {
    const uploads = new Uploads();
    const all = ["a", "b", "c", "d"].map((name) => uploads.send("/x", file(name), 10));
    uploads.abort();
    expect(await Promise.all(all)).toEqual([null, null, null, null]);
    expect(open).toHaveLength(3);
    expect(uploads.items()).toEqual([]);
  });

  it("never send a file that was cancelled in the queue", async () => {
    const uploads = new Uploads();
    const first = ["a", "b", "c"].map((name) => uploads.send("/x", file(name), 10));
    const last = uploads.send("/x", file("d"), 10);
    uploads.dismiss(uploads.items().find((u) => u.name === "d")!.key);
    open[0]!.end({});
    await first[0];
    expect(await last).toBeNull();
    expect(open.map((o) => o.name)).toEqual(["a", "b", "c"]);
  });
});
