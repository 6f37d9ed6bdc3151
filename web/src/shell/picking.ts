/** The maximum number of conversations that one request can change. */
export const MOST_AT_ONCE = 50;

/** The selection after a click on id. With range, all ids from the last clicked one to this one are selected. At most MOST_AT_ONCE are selected. */
export function pick(picked: ReadonlySet<string>, ids: readonly string[], id: string, last: string | null, range: boolean): ReadonlySet<string> {
  const next = new Set(picked);
  const [from, to] = [ids.indexOf(last ?? ""), ids.indexOf(id)];
  if (range && from >= 0 && to >= 0) for (const one of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one);
  else if (!next.delete(id)) next.add(id);
  return new Set([...next].slice(0, MOST_AT_ONCE));
}
