const MOST = 50;

/** The words of a name in lower case, without numbers. */
export const wordsOf = (name: string): string[] => name.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];

/** Words that name any file, in the languages of the page's documents. */
const ANY = new Set("document documents dokument dokumente documento documentos documenti documenten file files datei dateien fichier fichiers archivo archivos bestand bestanden scan scans copy kopie copie copia new neu neues untitled unbenannt".split(" "));

const lettersOf = (words: Iterable<string>): number => [...words].join("").length;

/**
 * The two items whose names share the most letters in whole words; on a tie, the first such pair.
 * null if no two share two thirds of the shorter name: then they share little but words like "the".
 */
export function mostAlike<T>(items: readonly T[], name: (item: T) => string): [T, T] | null {
  const compared = items.slice(0, MOST);
  const sets = compared.map((item) => new Set(wordsOf(name(item)).filter((w) => !ANY.has(w))));
  let best: [T, T] | null = null;
  let most = 0;
  for (let i = 0; i < compared.length; i++) {
    for (let j = i + 1; j < compared.length; j++) {
      const [one, other] = [sets[i]!, sets[j]!];
      const shared = lettersOf([...one].filter((w) => other.has(w)));
      if (shared > most && shared >= (Math.min(lettersOf(one), lettersOf(other)) * 2) / 3) [most, best] = [shared, [compared[i]!, compared[j]!]];
    }
  }
  return best;
}
