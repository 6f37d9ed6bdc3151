// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import type { Doc } from "../api/types";
import { textOf } from "../composer/outgoing";
import { BYTES, headingsOf, ideasFor, sourcesOf, textsFor } from "./ideas";

const doc = (id: string, title: string, more: Partial<Doc> = {}): Doc => ({ id, title, status: "ready", source_type: "upload", format: "md", bytes: 10, chunks: 1, public: false, ...more });

describe("suggestions for a new chat", () => {
  it("use headings without their numbers, and without the title", () => {
    expect(headingsOf("# Leave Policy\n\n## 2.1 Annual leave\n# **Carry-over** #\n## ab\nno # heading\n## Annual leave\n", "Leave policy")).toEqual(["Annual leave", "Carry-over"]);
  });

  it.each([["Rental Agreement Lindenstrasse 12", "Rental Agreement"], ["Customer list", "mail (Customer list)"], ["Leave Policy", "leave-policy"]])("the heading %j is the name of %j, and no topic", (heading, title) => {
    expect(headingsOf(`# ${heading}\n## Pets`, title)).toEqual(["Pets"]);
  });

  it.each([["Customer data", "Remote Work and Customer Data Policy"], ["Liquidity", "Capital and Liquidity"], ["Sick leave", "Leave"]])("the heading %j is a topic of %j", (heading, title) => {
    expect(headingsOf(`## ${heading}`, title)).toEqual([heading]);
  });

  it.each(["instead of the default.", "WARNING : you MUST use the ENGLISH NAME of your language", "Purpose", "1. Einleitung", "Appendix A", "annual leave and so on", "A sentence that is much too long for a heading of a section", "Note: see below", "Contents ........ 3"])("%j is no topic", (heading) => {
    expect(headingsOf(`## ${heading}\n`, "T")).toEqual([]);
  });

  it.each(["§ 4 Kündigung", "2.1 Liquidity coverage", "How do I orphan a package?", "Urlaub im Ausland"])("%j is one", (heading) => {
    expect(headingsOf(`## ${heading}\n`, "T")).toEqual([heading.replace(/^(§ 4|2\.1) /, "")]);
  });

  const labels = (docs: Doc[], texts = new Map<string, string>()) => ideasFor(docs, texts).map((i) => i.label);

  it("are one for each skill, the user's documents first", () => {
    const docs = [doc("a", "Leave policy 2025"), doc("b", "Leave policy 2024"), doc("p", "Travel", { public: true }), doc("q", "Travel abroad", { public: true })];
    const ideas = ideasFor(docs, new Map([["a", "# Purpose\n# Sick leave"], ["p", "# By train"]]));
    expect(ideas.map((i) => [i.label, i.shared])).toEqual([
      ["What does Leave policy 2025 say about “Sick leave”?", false],
      ["Summarize Leave policy 2025", false],
      ["What changed from the 2024 to the 2025 policy?", false],
      ["Check a text against Leave policy 2025", false],
    ]);
    expect(textOf(ideas[0]!.doc)).toBe("What does @Leave policy 2025 say about “Sick leave”?");
    expect(textOf(ideas[2]!.doc).trim()).toBe("Compare @Leave policy 2024 and @Leave policy 2025");
  });

  it.each([
    [["Remote Work and Customer Data Policy 2025", "Remote Work Policy 2024"], "Remote Work Policy 2024", "Remote Work and Customer Data Policy 2025"],
    [["2025 Leave policy", "Leave policy of 2024"], "Leave policy of 2024", "2025 Leave policy"],
    [["Circular v10", "Circular v9"], "Circular v9", "Circular v10"],
  ])("compare the older of %j with the newer", (titles, older, newer) => {
    const ideas = ideasFor(titles.map((t) => doc(t, t)), new Map());
    expect(ideas.map((i) => textOf(i.doc).trim())).toContain(`Compare @${older} and @${newer}`);
    expect(ideas.map((i) => i.label)).toContain(older.includes("2024") ? "What changed from the 2024 to the 2025 policy?" : `Compare ${older} and ${newer}`);
  });

  it.each([
    ["Politique de télétravail 2024", "Politique de télétravail 2025", "Politique de télétravail"],
    ["Terms of supply (2024)", "Terms of supply (2025)", "Terms of supply"],
    ["Report of 2024", "Report of 2025", "report"],
    ["2024 Arbeitszeitordnung", "2025 Arbeitszeitordnung", "arbeitszeitordnung"],
    ["供应商合同2024", "供应商合同2025", "供应商合同"],
    ["契約書2024年版", "契約書2025年版", "version"],
  ])("ask what changed from %j to %j by the name that both have", (older, newer, what) => {
    expect(labels([doc("n", newer), doc("o", older)])).toContain(`What changed from the 2024 to the 2025 ${what}?`);
  });

  it("ask a heading that is a question as it is", () => {
    const ideas = ideasFor([doc("a", "Remote work policy")], new Map([["a", "# Training\n# Who may work remotely\n# Is this paid?"]]));
    expect(ideas[0]!.label).toBe("Who may work remotely?");
    expect(textOf(ideas[0]!.doc)).toBe("Who may work remotely? @Remote work policy");
  });

  it.each(["Qui peut télétravailler\u202f?", "¿Quién puede teletrabajar?", "Wie mag op afstand werken?", "谁可以远程办公？", "من يمكنه العمل عن بعد؟", "Ποιος δικαιούται άδεια\u037E"])("ask %j as it is", (heading) => {
    const idea = ideasFor([doc("a", "Remote work policy")], new Map([["a", `# Training\n# ${heading}`]]))[0]!;
    expect(idea.label).toBe(heading);
    expect(textOf(idea.doc)).toBe(`${heading} @Remote work policy`);
  });

  it("summarize a document that is neither a letter nor a table, the user's own first", () => {
    const shared = doc("p", "Travel", { public: true });
    expect(labels([doc("e", "Email: customer list"), doc("t", "Invoices", { format: "csv" }), doc("c", "Supplier contract"), shared])).toContain("Summarize Supplier contract");
    expect(labels([doc("t", "Invoices", { format: "csv" }), shared])).toContain("Summarize Invoices");
  });

  it("read no more texts than until one has a section to ask about", async () => {
    const docs = [doc("big", "Archive", { bytes: BYTES + 1 }), doc("e", "Letter"), doc("lost", "Lost"), doc("a", "Leave policy"), doc("b", "Fees")];
    const stored: Record<string, string> = { big: "# Boxes", e: "no heading", a: "# Sick leave", b: "# By month" };
    const read: string[] = [];
    const texts = await textsFor(docs, (id) => (read.push(id), stored[id] === undefined ? Promise.reject(new Error("404")) : Promise.resolve(stored[id])));
    expect(read).toEqual(["e", "lost", "a"]);
    expect(labels(docs, texts)[0]).toBe("What does Leave policy say about “Sick leave”?");
    expect(labels(docs, texts)).toEqual(labels(docs, new Map([...texts, ["b", stored.b!]])));
  });

  it("check a letter against rules", () => {
    expect(labels([doc("e", "E-mail about the customer list"), doc("r", "Data policy")])).toContain("Check E-mail about the customer list against Data policy");
  });

  it("name what is checked by its kind when the titles are long", () => {
    const rules = "Remote Work and Customer Data Policy 2025 of the whole group";
    expect(labels([doc("e", "Email: Customer list for the spring campaign"), doc("r", rules)])).toContain("Check an e-mail against the rules");
    expect(labels([doc("e", "Letter to all customers about the campaign"), doc("r", rules)])).toContain("Check a letter against the rules");
    expect(labels([doc("r", rules)])).toContain("Check a text against the rules");
  });

  it("are never cut", () => {
    const long = "The quick brown contract clause number N states that the supplier and the customer";
    expect(labels([doc("a", long)])).toEqual(["Summarize your newest document"]);
    expect(labels([doc("a", long, { public: true })])).toEqual([]);
    expect(labels([doc("a", `${long} one`), doc("b", `${long} two`)], new Map([["a", "# Fees"]]))).toEqual(["What do the documents say about “Fees”?", "Summarize your newest document"]);
    expect(labels([doc("a", `${long} 2024`), doc("b", `${long} 2025`)])).toEqual(["Summarize your newest document", "What changed from the 2024 to the 2025 version?"]);
    expect(labels([])).toEqual([]);
  });

  it("are about the user's three newest documents, then about shared ones", () => {
    const all = [doc("p", "Public", { public: true, created_at: "2026-03" }), doc("o", "Old", { created_at: "2026-01" }), doc("n", "New", { created_at: "2026-02" }), doc("x", "Unread", { status: "processing" })];
    expect(sourcesOf(all).map((d) => d.id)).toEqual(["n", "o", "p"]);
    expect(sourcesOf(all.filter((d) => d.id === "p" || d.id === "x")).map((d) => d.id)).toEqual(["p"]);
  });
});
