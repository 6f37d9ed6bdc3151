import { useId, type ReactNode } from "react";
import { boardWords } from "../words/discovery";
import { outputTypes } from "./board";

export const field = "block h-9 w-full rounded-lg border border-edge bg-surface px-3 text-sm pointer-coarse:h-11";

/** A field with its label; the field takes the id. */
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

/** The type of an output. */
export const OutputType = ({ value, onChange }: { value: string | undefined; onChange: (type: string) => void }) => (
  <Labelled label={boardWords.form.type}>
    {(id) => (
      <select id={id} value={value} onChange={(e) => onChange(e.target.value)} className={field}>
        {outputTypes.map((t) => (
          <option key={t} value={t}>
            {boardWords.outputTypes[t]}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

export const Problem = ({ text }: { text: string }) =>
  text ? (
    <p role="alert" className="text-sm text-bad">
      {text}
    </p>
  ) : null;
