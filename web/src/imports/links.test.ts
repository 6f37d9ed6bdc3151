import { afterEach, describe, expect, it } from "vitest";
import { findLinks, readLink, setImportSources, sourceLabel } from "./links";

const ID = "1AbCdEfGhIjKlMnOp";

describe("a link into Google Drive", () => {
  it.each([
    [`https://drive.google.com/file/d/${ID}/view?usp=sharing`, "drive"],
    [`https://drive.google.com/open?id=${ID}`, "drive"],
    [`https://drive.google.com/uc?id=${ID}&export=download`, "drive"],
    [`https://docs.google.com/document/d/${ID}/edit#heading=h.1`, "doc"],
    [`https://docs.google.com/spreadsheets/d/${ID}/edit?gid=0`, "sheet"],
    [`https://docs.google.com/presentation/d/${ID}/edit`, "slides"],
    [`https://drive.google.com/a/example.com/file/d/${ID}/view`, "drive"],
    [`https://drive.google.com/file/u/0/d/${ID}/view`, "drive"],
    [`https://docs.google.com/document/u/1/d/${ID}/edit`, "doc"],
    [`drive.google.com/file/d/${ID}`, "drive"],
    [`https://www.google.com/url?q=https://docs.google.com/document/d/${ID}/edit`, "doc"],
  ])("%s is a file of the kind %s", (text, kind) => {
    expect(readLink(text)).toMatchObject({ kind, key: `drive:${ID}` });
  });

  it.each([
    "https://drive.google.com/file/d/short/view",
    "https://drive.google.com/drive/folders/1AbCdEfGhIjKlMnOp",
    "https://docs.google.com/document/edit",
    "https://drive.google.com/open",
    "https://docs.google.com/constructor/d/1AbCdEfGhIjKlMnOp",
  ])("%s points to no file", (text) => {
    expect(readLink(text)).toMatchObject({ kind: null, text });
  });
});

describe("a link to an added source", () => {
  afterEach(() => setImportSources([]));

  it("has the source's label, with http and https", () => {
    setImportSources([{ type: "manuals", label: "Shop manuals", links: ["manuals.example.com/", "example.com/wiki/"] }]);
    expect(findLinks("See https://manuals.example.com/aurora, and http://example.com/wiki/a").map((l) => [l.text, l.kind, l.label])).toEqual([
      ["https://manuals.example.com/aurora", "web", "Shop manuals"],
      ["http://example.com/wiki/a", "web", "Shop manuals"],
    ]);
    expect(readLink("https://example.com/other")).not.toHaveProperty("label");
    expect(sourceLabel("manuals")).toBe("Shop manuals");
    expect(sourceLabel("link")).toBeUndefined();
  });
});

describe("the links of a message", () => {
  it("do not include punctuation of the sentence", () => {
    const kinds = (message: string) => findLinks(message).map((l) => l.text);
    expect(kinds(`See (https://docs.google.com/document/d/${ID}/edit), please.`)).toEqual([`https://docs.google.com/document/d/${ID}/edit`]);
    expect(kinds("Read https://example.com/a_(b). Then <https://example.com/c>!")).toEqual(["https://example.com/a_(b)", "https://example.com/c"]);
  });

  it("are listed once, in whatever form they are written", () => {
    expect(findLinks(`https://drive.google.com/open?id=${ID} and https://drive.google.com/file/d/${ID}/view`)).toHaveLength(1);
    expect(findLinks("https://example.com https://example.com/ https://example.com/#top")).toHaveLength(1);
  });

  it("do not include what cannot be imported", () => {
    expect(findLinks("http://example.com ftp://example.com https://me:secret@example.com mail@drive.google.com")).toEqual([]);
  });

  it("include other sites, forms and published pages as web pages", () => {
    expect(readLink("https://docs.google.com/forms/d/1AbCdEfGhIjKlMnOp/viewform")?.kind).toBe("web");
    expect(readLink("https://docs.google.com/document/d/e/2PACX-1AbCdEfGhIjK/pub")?.kind).toBe("web");
    expect(readLink("https://example.com/report.pdf")).toMatchObject({ kind: "web", host: "example.com" });
  });
});
