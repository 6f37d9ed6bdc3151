import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import { shortcuts } from "./shortcuts";

export default function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={words.shortcuts.title} onClose={onClose}>
      <dl className="space-y-2.5 text-sm">
        {shortcuts().map(({ keys, what }) => (
          <div key={what} className="flex items-baseline justify-between gap-6">
            <dt className="text-muted">{what}</dt>
            <dd className="flex shrink-0 gap-1">
              {keys.map((key) => (
                <kbd key={key} className="rounded-md border border-line bg-sunken px-1.5 py-0.5 font-sans text-xs">
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
