import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useEffect, useRef, useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import { Button, IconButton } from "../ui/Button";
import { toast } from "../ui/toast";
import { words } from "../words";
import { giveFeedback, MAX_REASON, useFeedback, type Rating } from "./feedback";

const pressed = "aria-pressed:text-accent aria-pressed:bg-accent-soft";

interface Props {
  thread: string;
  turn: string;
  onAsk: (rating: Rating | null) => void;
}

/** Thumbs up and down for an answer. A second click removes the rating. */
export function Thumbs({ thread, turn, onAsk }: Props) {
  const now = useFeedback(thread, turn)?.rating;
  const [busy, setBusy] = useState(false);
  const rate = async (rating: Rating) => {
    if (busy) return;
    setBusy(true);
    const next = now === rating ? null : { rating };
    try {
      await giveFeedback(thread, turn, next);
      onAsk(next && rating);
    } catch (err) {
      toast.error(words.feedback.failed(errorText(err)));
    }
    setBusy(false);
  };
  return (
    <span role="group" aria-label={words.feedback.label} className="inline-flex">
      <IconButton size="small" icon={ThumbsUp} label={words.feedback.good} aria-pressed={now === "up"} className={pressed} onClick={() => void rate("up")} />
      <IconButton size="small" icon={ThumbsDown} label={words.feedback.bad} aria-pressed={now === "down"} className={pressed} onClick={() => void rate("down")} />
    </span>
  );
}

/** Asks for the reason of a rating. */
export function Reason({ thread, turn, rating, onDone }: { thread: string; turn: string; rating: Rating; onDone: () => void }) {
  const stored = useFeedback(thread, turn);
  const [reason, setReason] = useState(stored?.reason ?? "");
  const [shared, setShared] = useState(stored?.shared ?? false);
  const [problem, setProblem] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => void form.current?.scrollIntoView({ block: "nearest" }), []); // newer browsers return a promise
  const done = () => {
    form.current?.closest("article")?.querySelector<HTMLElement>("[aria-pressed=true]")?.focus();
    onDone();
  };
  const send = async (e: FormEvent) => {
    e.preventDefault();
    try {
      if (reason.trim() !== "" || shared !== (stored?.shared ?? false)) {
        await giveFeedback(thread, turn, { rating, reason, shared });
        toast(words.feedback.thanks);
      }
      done();
    } catch (err) {
      setProblem(words.feedback.failed(errorText(err)));
    }
  };
  return (
    <form
      ref={form}
      onSubmit={(e) => void send(e)}
      onKeyDown={(e) => {
        if (e.key !== "Escape") return;
        e.preventDefault(); // otherwise Escape would stop the answer as well
        done();
      }}
      className="mt-2 max-w-xl space-y-2 rounded-xl border border-line bg-surface p-3 text-sm"
    >
      <label className="block">
        <span className="mb-1 block font-medium">{rating === "up" ? words.feedback.whyGood : words.feedback.whyBad}</span>
        <textarea autoFocus dir="auto" rows={2} maxLength={MAX_REASON} value={reason} onChange={(e) => setReason(e.target.value)} className="block w-full resize-y rounded-lg border border-edge bg-surface px-3 py-2" />
      </label>
      <label className="flex items-center gap-2 pointer-coarse:min-h-11">
        <input type="checkbox" checked={shared} onChange={(e) => setShared(e.target.checked)} className="size-4 shrink-0 accent-accent" /> {words.feedback.share}
      </label>
      <p className="text-xs text-muted">{words.feedback.note}</p>
      {problem && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button onClick={done}>{words.common.cancel}</Button>
        <Button type="submit" variant="primary">
          {words.feedback.send}
        </Button>
      </div>
    </form>
  );
}
