import { useId, type ReactNode } from "react";

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

export const Problem = ({ text }: { text: string }) =>
  text ? (
    <p role="alert" className="text-sm text-bad">
      {text}
    </p>
  ) : null;
