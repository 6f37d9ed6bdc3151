import { useId, type ReactNode } from "react";
import { words } from "../words";
import { pretty, type Arguments } from "./json";
import { inputOf, readForm, type Field, type Inputs } from "./schema";

interface Props {
  fields: readonly Field[];
  args: Arguments;
  inputs: Inputs;
  /** The problems that the server reported, by field. */
  refused: Inputs;
  /** Whether the user has tried to send: problems are then announced. */
  tried: boolean;
  onChange: (name: string, input: string) => void;
}

/** The arguments of a tool call as fields that can be changed. */
export function ToolFields({ fields, args, inputs, refused, tried, onChange }: Props) {
  const { problems } = readForm(fields, args, inputs);
  return (
    <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
      {fields.map((field) => {
        const { name } = field;
        const first = inputOf(field, Object.hasOwn(args, name) ? args[name] : undefined);
        const input = Object.hasOwn(inputs, name) ? inputs[name]! : first;
        const problem = (Object.hasOwn(problems, name) && problems[name]) || (Object.hasOwn(refused, name) && refused[name]) || "";
        return <Row key={name} field={field} input={input} problem={problem} tried={tried} onChange={(v) => onChange(name, v)} />;
      })}
    </div>
  );
}

const wide = (field: Field): string => (field.kind === "text" || field.kind === "json" ? "sm:col-span-2" : "");

interface RowProps {
  field: Field;
  input: string;
  problem: string;
  tried: boolean;
  onChange: (input: string) => void;
}

function Row({ field, input, problem, tried, onChange }: RowProps) {
  const id = useId();
  const described = [field.hint && `${id}-hint`, problem && `${id}-wrong`].filter(Boolean).join(" ");
  const control: Control = { id, "aria-invalid": problem !== "" || undefined, "aria-describedby": described || undefined, "aria-required": field.required || undefined };
  return (
    <div className={`min-w-0 text-sm ${wide(field)}`}>
      {field.kind !== "switch" && (
        <label htmlFor={id} className="mb-1 block font-medium break-words">
          {field.label}
          {!field.required && <span className="font-normal text-muted"> ({words.tools.optional})</span>}
        </label>
      )}
      <Input field={field} input={input} control={control} onChange={onChange} />
      {field.hint && (
        <p id={`${id}-hint`} dir="auto" className="mt-1 line-clamp-3 text-xs text-muted">
          {field.hint}
        </p>
      )}
      {problem && (
        <p id={`${id}-wrong`} role={tried ? "alert" : undefined} className="mt-1 text-xs text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}

interface Control {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
  "aria-required": true | undefined;
}

const box = "block w-full rounded-lg border border-edge bg-surface px-3 focus:border-accent aria-invalid:border-bad";
const line = `${box} h-9 pointer-coarse:h-11`;

function Input({ field, input, control, onChange }: { field: Field; input: string; control: Control; onChange: (input: string) => void }) {
  switch (field.kind) {
    case "switch":
      return <Switch field={field} input={input} control={control} onChange={onChange} />;
    case "choice":
      return (
        <select {...control} value={input} onChange={(e) => onChange(e.target.value)} className={line}>
          {(!field.required || input === "") && <option value="">{words.tools.notSet}</option>}
          {field.choices.map(({ label }, i) => (
            <option key={i} value={i}>
              {label}
            </option>
          ))}
        </select>
      );
    case "integer":
    case "number":
      return <input {...control} inputMode={field.kind === "integer" ? "numeric" : "decimal"} autoComplete="off" value={input} onChange={(e) => onChange(e.target.value)} className={line} />;
    case "line":
      return <input {...control} type={field.type === "date" ? "date" : "text"} inputMode={field.type === "email" || field.type === "url" ? field.type : undefined} dir="auto" autoComplete="off" value={input} onChange={(e) => onChange(e.target.value)} className={line} />;
    default:
      return (
        <textarea
          {...control}
          dir={field.kind === "json" ? "ltr" : "auto"}
          rows={field.kind === "json" ? 2 : 1}
          spellCheck={field.kind === "text"}
          value={input}
          onChange={(e) => onChange(e.target.value)}
          className={`${box} max-h-80 min-h-9 resize-y field-sizing-content py-2 leading-snug pointer-coarse:min-h-11 ${field.kind === "json" ? "font-mono text-xs" : ""}`}
        />
      );
  }
}

function Switch({ field, input, control, onChange }: { field: Field; input: string; control: Control; onChange: (input: string) => void }) {
  const on = input === "" ? field.on : input === "true";
  return (
    <label htmlFor={control.id} className="flex min-h-9 cursor-pointer items-center gap-2.5 font-medium sm:mt-6 pointer-coarse:min-h-11">
      <input {...control} type="checkbox" role="switch" checked={on} onChange={(e) => onChange(String(e.target.checked))} className="peer sr-only" />
      <span
        aria-hidden
        className="relative h-5 w-9 shrink-0 rounded-full bg-edge transition-colors peer-checked:bg-accent peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-accent after:absolute after:top-0.5 after:left-0.5 after:size-4 after:rounded-full after:bg-surface after:transition-transform peer-checked:after:translate-x-4 motion-reduce:after:transition-none"
      />
      <span className="min-w-0 break-words">{field.label}</span>
    </label>
  );
}

/** The arguments of a tool call as text, when they cannot be changed. */
export function ToolValues({ fields, args }: { fields: readonly Field[]; args: Arguments }) {
  const given = fields.filter((f) => Object.hasOwn(args, f.name));
  return (
    <dl className="grid gap-x-4 gap-y-2.5 text-sm sm:grid-cols-2">
      {given.map((field) => (
        <div key={field.name} className={`min-w-0 ${wide(field)}`}>
          <dt className="text-xs font-medium break-words text-muted">{field.label}</dt>
          <Value field={field} value={args[field.name]} />
        </div>
      ))}
    </dl>
  );
}

function Value({ field, value }: { field: Field; value: unknown }): ReactNode {
  if (field.kind === "json") return <dd className="mt-0.5 max-h-60 overflow-auto rounded-lg bg-sunken px-3 py-2 font-mono text-xs whitespace-pre-wrap">{pretty(value)}</dd>;
  return (
    <dd dir="auto" className="mt-0.5 max-h-60 overflow-auto break-words whitespace-pre-wrap">
      {shownValue(field, value)}
    </dd>
  );
}

function shownValue({ kind, choices }: Field, value: unknown): string {
  if (value === null) return words.tools.notSet;
  if (kind === "switch") return value === true ? words.tools.yes : words.tools.no;
  return kind === "choice" ? (choices.find((c) => c.value === value)?.label ?? "") : String(value);
}
