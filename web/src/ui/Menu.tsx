import { Menu as Base } from "@base-ui/react/menu";
import { Check, type LucideIcon } from "lucide-react";
import type { ReactElement, ReactNode } from "react";

interface Props {
  /** The button that opens it. */
  trigger: ReactElement;
  align?: "start" | "end";
  side?: "top" | "bottom";
  defaultOpen?: boolean;
  children: ReactNode;
}

export function Menu({ trigger, align = "end", side = "bottom", defaultOpen = false, children }: Props) {
  return (
    <Base.Root modal={false} defaultOpen={defaultOpen}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} side={side} sideOffset={4} className="z-50">
          <Base.Popup data-layer className="min-w-40 max-w-[min(22rem,90vw)] max-h-(--available-height) overflow-y-auto rounded-xl border border-line bg-surface p-1 text-sm shadow-float outline-none transition duration-100 data-ending-style:opacity-0 data-starting-style:opacity-0">
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const row = "flex cursor-pointer items-center gap-2.5 rounded-lg px-2.5 py-1.5 -outline-offset-2 select-none pointer-coarse:py-3 data-highlighted:bg-sunken";

/** The heading of a menu: a name, and a smaller detail. */
export function MenuHeading({ text, detail }: { text: string; detail: string }) {
  return (
    <Base.Group>
      <Base.GroupLabel className="max-w-64 border-b border-line px-2.5 pt-1 pb-2 mb-1">
        <span className="block text-xs text-muted">{text}</span>
        <span dir="auto" className="block truncate font-medium" title={detail}>
          {detail}
        </span>
      </Base.GroupLabel>
    </Base.Group>
  );
}

interface ItemProps {
  icon: LucideIcon;
  onSelect: () => void;
  danger?: boolean;
  children: ReactNode;
}

export function MenuItem({ icon: Glyph, onSelect, danger, children }: ItemProps) {
  return (
    <Base.Item className={`${row} ${danger ? "text-bad" : ""}`} onClick={onSelect}>
      <Glyph aria-hidden className="size-4 shrink-0" />
      {children}
    </Base.Item>
  );
}

/** A menu item that downloads a file from the server, under its own name or another. */
export function MenuLink({ icon: Glyph, href, name = true, children }: { icon: LucideIcon; href: string; name?: string | true; children: ReactNode }) {
  return (
    <Base.LinkItem download={name} href={href} closeOnClick className={row}>
      <Glyph aria-hidden className="size-4 shrink-0" />
      {children}
    </Base.LinkItem>
  );
}

/** A menu item that opens a page in a new tab. href is called when the item is rendered and again when it is used. */
export function MenuTab({ icon: Glyph, href, children }: { icon: LucideIcon; href: () => string; children: ReactNode }) {
  return (
    <Base.LinkItem href={href()} onClick={(e) => e.currentTarget.setAttribute("href", href())} target="_blank" rel="noopener" closeOnClick className={row}>
      <Glyph aria-hidden className="size-4 shrink-0" />
      {children}
    </Base.LinkItem>
  );
}

/** A line between two groups of a menu. */
export const MenuLine = () => <Base.Separator className="my-1 border-t border-line" />;

interface ChoiceProps<T extends string> {
  label: string;
  /** Whether the label is shown above the items. */
  titled?: boolean;
  value: T;
  options: { value: T; label: string; icon: LucideIcon; detail?: string }[];
  onChange: (value: T) => void;
}

/** A radio item of a menu. */
export function MenuChoice<T extends string>({ label, titled = false, value, options, onChange }: ChoiceProps<T>) {
  return (
    <Base.RadioGroup aria-label={label} value={value} onValueChange={(v) => onChange(v as T)}>
      {titled && <p aria-hidden className="px-2.5 pt-1 pb-0.5 text-xs font-medium text-muted">{label}</p>}
      {options.map(({ value: v, label: text, icon: Glyph, detail }) => (
        <Base.RadioItem key={v} value={v} className={row} closeOnClick>
          <Glyph aria-hidden className="size-4 shrink-0 text-muted" />
          <span className="min-w-0 break-words">
            {text}
            {detail && <span className="block text-xs text-muted">{detail}</span>}
          </span>
          <Base.RadioItemIndicator className="ml-auto">
            <Check aria-hidden className="size-4 text-accent" />
          </Base.RadioItemIndicator>
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}
