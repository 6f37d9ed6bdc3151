import { useEffect, useState } from "react";

const MINUTE_MS = 60_000;

/** Renders again each minute, for texts that say how long ago something was. */
export function useMinutes(): void {
  const [, pass] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => pass((n) => n + 1), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
}
