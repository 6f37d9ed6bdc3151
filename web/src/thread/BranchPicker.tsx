import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../ui/Button";
import { words } from "../words";

interface Props {
  versions: string[];
  turn: string;
  disabled: boolean;
  /** Undefined while a question is open. */
  onShow: ((turn: string) => void) | undefined;
}

/** Switches between the versions of a turn: edited messages and new answers. */
export function BranchPicker({ versions, turn, disabled, onShow }: Props) {
  const at = versions.indexOf(turn);
  if (versions.length < 2 || at < 0) return null;
  return (
    <span role="group" aria-label={words.message.versions} data-versions={turn} className="inline-flex items-center tabular-nums">
      <IconButton size="small" icon={ChevronLeft} label={words.message.earlier} disabled={disabled || !onShow || at === 0} onClick={() => onShow?.(versions[at - 1]!)} />
      <span className="sr-only">{words.message.version(at + 1, versions.length)}</span>
      <span aria-hidden>
        {at + 1}/{versions.length}
      </span>
      <IconButton size="small" icon={ChevronRight} label={words.message.later} disabled={disabled || !onShow || at === versions.length - 1} onClick={() => onShow?.(versions[at + 1]!)} />
    </span>
  );
}
