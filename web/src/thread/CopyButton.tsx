import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/Button";
import { words } from "../words";

interface Props {
  text: string | (() => string);
  label: string;
  className?: string;
}

/** Copies text. The clipboard API needs a secure page; elsewhere execCommand does it. */
export function CopyButton({ text, label, className }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(typeof text === "string" ? text : text()))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return <IconButton size="small" icon={copied ? Check : Copy} label={copied ? words.message.copied : label} className={className} onClick={() => void copy()} />;
}

/** Puts a text into the clipboard, and reports whether it is there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
