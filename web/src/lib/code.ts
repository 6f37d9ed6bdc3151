/** Fenced code, and inline code within a paragraph. */
const CODE = /^[ \t>]*(`{3,64}|~{3,64})[^\n]*\n[^]*?(?:\n[ \t>]*\1[`~]* *(?=\n|$)|$(?![^]))|(?<!`)(`{1,64})(?!`)(?:(?!\n[ \t]*\n)[^])*?[^`]\2(?!`)/gm;

/** Changes a Markdown text, but not its code. */
export function outsideCode(text: string, change: (part: string) => string): string {
  let out = "";
  let from = 0;
  for (const m of text.matchAll(CODE)) {
    out += change(text.slice(from, m.index)) + m[0];
    from = m.index + m[0].length;
  }
  return out + change(text.slice(from));
}
