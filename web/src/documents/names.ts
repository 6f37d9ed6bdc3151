/** The name under which lists show a document: its label tells equal titles apart. */
export const nameOf = (d: { title: string; label?: string }): string => d.label ?? d.title;

/** The year in a name, the last of several; 0 without one. */
export const yearOf = (name: string): number => Number(name.match(/(?<!\p{N})(?:19|20)\d{2}(?!\p{N})/gu)?.at(-1) ?? 0);

/** Orders versions of a document: by the year in their names, if each has one, else by their names, "v9" before "v10". */
export function olderFirst(a: { title: string; label?: string }, b: { title: string; label?: string }): number {
  const [one, other] = [nameOf(a), nameOf(b)];
  const years = [yearOf(one), yearOf(other)] as const;
  return (years.includes(0) ? 0 : years[0] - years[1]) || one.localeCompare(other, undefined, { numeric: true });
}
