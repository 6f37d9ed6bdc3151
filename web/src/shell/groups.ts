import type { Conversation } from "../api/types";
import { words } from "../words";
import { day } from "../words/intl";

export interface Group {
  name: string;
  items: Conversation[];
}

const DAY = 24 * 60 * 60 * 1000;

/** Groups the pinned conversations, then the others by the day of their last message, and keeps their order. */
export function byAge(items: readonly Conversation[], now = new Date()): Group[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
  const name = (c: Conversation) => {
    if (c.pinned) return words.shell.pinned;
    const at = Date.parse(c.last_message_at ?? c.created_at);
    if (at >= today) return words.ages.today;
    if (at >= today - DAY) return words.ages.yesterday;
    if (at >= today - 7 * DAY) return words.ages.week;
    if (at >= today - 30 * DAY) return words.ages.month;
    return words.ages.older;
  };
  const groups: Group[] = [];
  for (const c of items) {
    const last = groups.at(-1);
    if (last && last.name === name(c)) last.items.push(c);
    else groups.push({ name: name(c), items: [c] });
  }
  return groups;
}

/** A short relative time for a narrow column: "now", "5 min", "3 h", "12 Nov". */
export function since(iso: string | undefined, now = Date.now()): string {
  const then = iso ? Date.parse(iso) : Number.NaN;
  if (Number.isNaN(then)) return "";
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return words.ages.now;
  if (minutes < 60) return words.ages.minutes(minutes);
  if (minutes < 24 * 60) return words.ages.hours(Math.floor(minutes / 60));
  return day(new Date(then));
}
