import { words } from "../words";
import { clock, day } from "../words/intl";

/** How many characters that are pasted at a time become a document: answers then cite them. */
export const LONG = 5_000;

const LONGEST = 80; // characters of a title
const SENTENCE = /[.,;:!?…。！？]$/u; // how the first line of running text ends
const CODE = /[{}<>;=|\t]|^\W*$/;

/** The first line of a text if it is a title, not a sentence or code; else "". */
export function titleIn(text: string): string {
  const line = (/\S.*/.exec(text)?.[0] ?? "").replace(/[^\P{C}\t]/gu, "").trim();
  const heading = /^#{1,6} +/.exec(line)?.[0] ?? "";
  const title = line.slice(heading.length).replace(/[*_`]+/g, "").replace(/\s+#*$/, "").trim();
  if ([...title].length > LONGEST || CODE.test(title) || (!heading && SENTENCE.test(title))) return "";
  return title;
}

/** A text that was pasted at a time as a file, and the title of its document. */
export function pastedFile(text: string, at: Date): { file: File; title: string } {
  const title = titleIn(text) || words.composer.pastedAt(`${day(at)}, ${clock(at)}`);
  return { file: new File([text], `${title.replace(/[\\/:*?"<>|]/g, " ").trim()}.txt`, { type: "text/plain" }), title };
}
