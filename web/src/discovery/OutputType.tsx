import { field, Labelled } from "../ui/fields";
import { boardWords } from "../words/discovery";
import { outputTypes } from "./board";

/** A field for the type of an output. */
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
