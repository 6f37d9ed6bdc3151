import { useEffect, useId, useRef, type InputHTMLAttributes } from "react";
import type { SignInProblem } from "./problems";

interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, "onChange" | "name" | "value"> {
  name: NonNullable<SignInProblem["field"]>;
  label: string;
  help?: string;
  value: string;
  onChange: (value: string) => void;
  problem: SignInProblem | undefined;
}

/** A form field. It shows its problem and then takes the focus. */
export function Field({ name, label, help, value, onChange, problem, ...input }: FieldProps) {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const wrong = problem?.field === name;
  useEffect(() => {
    if (wrong) box.current?.focus();
  }, [wrong, problem]);
  return (
    <div className="text-sm">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <input
        ref={box}
        {...input}
        id={id}
        name={name}
        dir="ltr"
        value={value}
        aria-invalid={wrong}
        aria-describedby={wrong ? `${id}-wrong` : help ? `${id}-help` : undefined}
        onChange={(e) => onChange(e.target.value)}
        className="h-11 w-full rounded-lg border border-edge bg-surface px-3 text-base aria-invalid:border-bad"
      />
      {wrong ? (
        <p id={`${id}-wrong`} role="alert" className="mt-1 text-bad">
          {problem.text}
        </p>
      ) : (
        help && (
          <p id={`${id}-help`} className="mt-1 text-muted">
            {help}
          </p>
        )
      )}
    </div>
  );
}

/** A problem that belongs to no field. */
export const FormProblem = ({ problem }: { problem: string }) => (
  <p role="alert" className="rounded-lg border border-bad px-3 py-2 text-sm text-bad">
    {problem}
  </p>
);
