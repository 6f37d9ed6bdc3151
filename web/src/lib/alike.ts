const words = (s: string): Set<string> => new Set(s.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
const MOST = 50;

/** The two items whose names share the most words; on a tie, the first such pair. null if no two share a word. */
export function mostAlike<T>(items: readonly T[], name: (item: T) => string): [T, T] | null {
  const compared = items.slice(0, MOST);
  const sets = compared.map((item) => words(name(item)));
  let best: [T, T] | null = null;
  let most = 0;
  for (let i = 0; i < compared.length; i++) {
    for (let j = i + 1; j < compared.length; j++) {
      const shared = [...sets[i]!].filter((w) => sets[j]!.has(w)).length;
      if (shared > most) [most, best] = [shared, [compared[i]!, compared[j]!]];
    }
  }
  return best;
}
