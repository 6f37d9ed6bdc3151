import { bytes } from "../lib/format";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { clock, number } from "../words/intl";
import { useMe, type Use } from "./me";

/** How much of each limit is used. */
export default function UsageDialog({ onClose }: { onClose: () => void }) {
  const me = useMe();
  const names: Readonly<Record<string, string>> = words.account.usageNames;
  const uses = (me?.limits ?? []).filter((u) => u.limit > 0 && Object.hasOwn(names, u.name));
  return (
    <Dialog title={words.account.usage} onClose={onClose}>
      {!me && <p role="status">{words.account.usageLoading}</p>}
      {me && uses.length === 0 && <p className="text-sm">{words.account.usageNone}</p>}
      <ul className="space-y-3">
        {uses.map((u) => (
          <Row key={u.name} use={u} name={names[u.name]!} />
        ))}
      </ul>
    </Dialog>
  );
}

/** Shows AI budgets as a percentage, and stored things as numbers. */
function amount({ name, used, limit }: Use, percent: number): string {
  if (name.startsWith("daily_")) return words.account.usageShare(percent);
  const show = name === "storage_bytes" ? bytes : number;
  return words.account.usageOf(show(used), show(limit));
}

function Row({ use, name }: { use: Use; name: string }) {
  const percent = Math.min(100, Math.floor((use.used / use.limit) * 100));
  return (
    <li className="text-sm">
      <div className="mb-1 flex justify-between gap-4">
        <span>{name}</span>
        <span className="text-muted tabular-nums">{amount(use, percent)}</span>
      </div>
      <progress aria-label={name} className="bar h-1.5 w-full" max={100} value={percent} />
      {use.resets_at && <p className="mt-1 text-xs text-muted">{words.limits.resets(clock(new Date(use.resets_at)))}</p>}
    </li>
  );
}
