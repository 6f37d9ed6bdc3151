import { useState } from "react";
import { useConfig } from "../api/useConfig";
import { words } from "../words";

const SHOW_FROM = 0.9; // share of the maximum length

/** Shows the length of a message that is nearly too long. Screen readers announce only when the limit is exceeded or met again, not each key. */
export function Count({ length }: { length: number }) {
  const { maxMessage } = useConfig();
  const over = length > maxMessage;
  const [passed, setPassed] = useState(false); // exceeded since the field was empty
  if (over !== passed && (over || length === 0)) setPassed(over);
  return (
    <>
      {length > maxMessage * SHOW_FROM && (
        <p className={`ml-auto px-2 text-xs tabular-nums ${over ? "text-bad" : "text-muted"}`}>
          {words.composer.length(length, maxMessage)}
        </p>
      )}
      <span role="status" className="sr-only">
        {over ? words.composer.tooLong(maxMessage) : passed ? words.composer.shortEnough : ""}
      </span>
    </>
  );
}
