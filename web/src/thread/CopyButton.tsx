import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../ui/Button";
import { words } from "../words";

interface Props {
  text: string | (() => string);
  /** The same as HTML, for programs that show it, such as a mail. */
  html?: (button: Element) => string;
  label: string;
  className?: string;
}

/** Copies text. The clipboard API needs a secure page; elsewhere execCommand does it. */
export function CopyButton({ text, html, label, className }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = async (button: Element) => {
    if (!(await copyText(typeof text === "string" ? text : text(), html?.(button)))) return;
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return <IconButton size="small" icon={copied ? Check : Copy} label={copied ? words.message.copied : label} className={className} onClick={(e) => void copy(e.currentTarget)} />;
}

/** Puts a text into the clipboard, also as HTML if that is given, and reports whether it is there. */
export async function copyText(text: string, html?: string): Promise<boolean> {
  try {
    const as = (type: string, value: string) => ({ [type]: new Blob([value], { type }) });
    if (html !== undefined && typeof ClipboardItem === "function") await navigator.clipboard.write([new ClipboardItem({ ...as("text/plain", text), ...as("text/html", html) })]);
    else await navigator.clipboard.writeText(text);
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
