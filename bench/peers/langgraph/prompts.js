// The prompts are Palaver's own, so that every system sends the model the same
// text; PROMPTS_DIR is activities/prompt.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const read = (name) => readFileSync(join(process.env.PROMPTS_DIR, `${name}.md`), "utf8").trim();
const [intent, docs, inquire, rules] = ["intent", "docs", "inquire", "rules"].map(read);

export const prompts = {
  intent,
  answer: `${inquire}\n\n${rules}`,
  docs: (known, tagged) =>
    `${docs}\n\nKnown documents: ${JSON.stringify(known.map(({ id, title }) => ({ id, title })))}\nTagged already: ${JSON.stringify(tagged)}`,
  question: (passages, question) =>
    passages.map((p, i) => `<passage id="${i + 1}" title="${p.title}">\n${p.body}\n</passage>\n`).join("") +
    `\n<question>\n${question}\n</question>`,
};
