import { useConfig } from "../api/useConfig";

const SHOW_FROM = 0.9; // of the longest message

/** How long a message is, once it is nearly too long. */
export function Count({ length }: { length: number }) {
  const { maxMessage } = useConfig();
  if (length <= maxMessage * SHOW_FROM) return null;
  return (
    <p role="status" className={`ml-auto px-2 text-xs tabular-nums ${length > maxMessage ? "text-bad" : "text-muted"}`}>
      {length.toLocaleString("en")} of {maxMessage.toLocaleString("en")} characters
    </p>
  );
}
