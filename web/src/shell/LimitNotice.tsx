import { X } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import { limitText, useNearestLimit } from "./limits";

/** Warns that a limit will soon be reached, before the server rejects a request. */
export function LimitNotice() {
  const near = useNearestLimit();
  const [dismissed, dismiss] = useState("");
  if (!near || dismissed === near.name) return null;
  return (
    <div className="mx-auto flex w-full max-w-3xl items-center gap-2 px-4 sm:px-6">
      <p role="status" className="min-w-0 flex-1 rounded-lg bg-sunken px-3 py-1.5 text-sm text-muted">
        {limitText(near)}
      </p>
      <IconButton size="small" icon={X} label={words.common.dismiss} onClick={() => dismiss(near.name)} />
    </div>
  );
}
