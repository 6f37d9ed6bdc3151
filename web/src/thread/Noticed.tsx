import type { Coded } from "../api/coded";
import { words } from "../words";
import { worded } from "../words/wire";

interface Props {
  notice: Coded & { code: string; message: string };
  /** How often the turn has said it. */
  times: number;
  /** Whether the answer is complete. */
  over: boolean;
}

const quiet = "my-3 border-s-2 border-line ps-3 text-sm text-muted";

/** A notice of a turn. The plan of an answer opens; what the person has added stands in their own words. */
export function Noticed({ notice, times, over }: Props) {
  switch (notice.code) {
    case "plan":
      return (
        <details className={quiet} open={!over}>
          <summary className="cursor-pointer">{words.message.plan}</summary>
          <p dir="auto" className="mt-1 whitespace-pre-wrap">
            {notice.message}
          </p>
        </details>
      );
    case "steered":
      return (
        <div className={quiet}>
          <p>{words.message.added}</p>
          <p dir="auto" className="mt-0.5 font-medium whitespace-pre-wrap text-ink">
            {notice.message}
          </p>
        </div>
      );
  }
  return (
    <p dir="auto" className={quiet}>
      {worded(notice, notice.message)}
      {times > 1 && ` ${words.message.times(times)}`}
    </p>
  );
}
