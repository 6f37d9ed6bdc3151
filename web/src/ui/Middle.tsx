const TAIL = 14;

/** A name on one line. If it is too long, it is cut in the middle, because names often differ at their ends. */
export function Middle({ text }: { text: string }) {
  const all = [...text];
  if (all.length < 2 * TAIL) return <span dir="auto" className="min-w-0 flex-1 truncate text-left">{text}</span>;
  return (
    <span dir="auto" className="flex min-w-0 flex-1 text-left whitespace-pre" title={text}>
      <span className="overflow-hidden text-ellipsis">{all.slice(0, -TAIL).join("")}</span>
      <span className="shrink-0">{all.slice(-TAIL).join("")}</span>
    </span>
  );
}
