import { useEffect, useState } from "react";

const MINUTE_MS = 60_000;

/** Renders again every minute, to keep relative times current. */
export function useMinutes(): void {
  const [, pass] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => pass((n) => n + 1), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
}
