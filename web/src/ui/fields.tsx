import { useId, type ReactNode } from "react";
import { words } from "../words";

export const field = "block h-9 w-full rounded-lg border border-edge bg-surface px-3 text-sm pointer-coarse:h-11";

/** A field with its label. children renders the field with the id. */
export function Labelled({ label, children }: { label: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="text-sm">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children(id)}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  maxLength: number;
  placeholder?: string;
  autoFocus?: boolean;
}

/** A line of text with its label. */
export const TextField = ({ label, value, onChange, maxLength, placeholder, autoFocus }: TextProps) => (
  <Labelled label={label}>
    {(id) => (
      <input id={id} autoFocus={autoFocus} dir="auto" value={value} maxLength={maxLength} placeholder={placeholder} onChange={(e) => onChange(e.target.value)} className={field} />
    )}
  </Labelled>
);

/** A text of several lines with its label, what it is for, and its length. */
export function TextArea({ label, value, onChange, maxLength, placeholder, help }: Omit<TextProps, "autoFocus"> & { help: string }) {
  const about = useId();
  return (
    <Labelled label={label}>
      {(id) => (
        <>
          <textarea
            id={id}
            aria-describedby={about}
            dir="auto"
            rows={4}
            value={value}
            maxLength={maxLength}
            placeholder={placeholder}
            onChange={(e) => onChange(e.target.value)}
            className="block max-h-[40dvh] min-h-24 w-full resize-y rounded-lg border border-edge bg-surface px-3 py-2 text-sm field-sizing-content"
          />
          <p id={about} className="mt-1 flex flex-wrap gap-x-3 text-muted">
            <span>{help}</span>
            <span className="ml-auto shrink-0 tabular-nums">{words.composer.length(value.length, maxLength)}</span>
          </p>
        </>
      )}
    </Labelled>
  );
}

/** A link or an id to copy. It is selected while it has the focus. */
export const Given = ({ label, value, autoFocus }: Pick<TextProps, "label" | "value" | "autoFocus">) => (
  <input readOnly autoFocus={autoFocus} aria-label={label} value={value} dir="ltr" onFocus={(e) => e.target.select()} className="h-9 min-w-0 flex-1 rounded-lg border border-edge bg-surface px-3 font-mono text-xs pointer-coarse:h-11" />
);

/** Shows why a form could not be saved; nothing for an empty text. */
export const Problem = ({ text }: { text: string }) =>
  text ? (
    <p role="alert" className="text-sm text-bad">
      {text}
    </p>
  ) : null;
