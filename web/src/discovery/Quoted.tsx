/** Shows the whole text of an item in a box. */
export const Quoted = ({ label, text }: { label?: string; text: string }) => (
  <div className="w-full text-sm">
    {label && <p className="text-xs font-medium text-muted">{label}</p>}
    <p dir="auto" tabIndex={0} className="mt-0.5 max-h-40 overflow-y-auto rounded-lg bg-sunken px-3 py-2 text-ink whitespace-pre-wrap">
      {text}
    </p>
  </div>
);
