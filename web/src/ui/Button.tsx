import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, ReactNode, Ref } from "react";

type Native = ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

const looks = {
  primary: "bg-accent text-accent-ink hover:bg-accent-strong",
  outline: "border border-line bg-surface hover:border-edge hover:bg-sunken",
  plain: "text-muted hover:bg-sunken hover:text-ink",
} as const;

interface Props extends Native {
  variant?: keyof typeof looks;
  icon?: LucideIcon;
  children: ReactNode;
}

export function Button({ variant = "outline", icon: Glyph, className = "", children, ...rest }: Props) {
  return (
    <button
      type="button"
      {...rest}
      className={`inline-flex h-9 shrink-0 items-center justify-center gap-2 rounded-lg px-3.5 text-sm font-medium transition-colors pointer-coarse:h-11 disabled:opacity-50 ${looks[variant]} ${className}`}
    >
      {Glyph && <Glyph aria-hidden className="size-4 shrink-0" />}
      {children}
    </button>
  );
}

interface IconProps extends Omit<Native, "children"> {
  /** The accessible name, which is also the tooltip. */
  label: string;
  icon: LucideIcon;
  size?: "small" | "normal";
}

const iconLook = "inline-flex shrink-0 items-center justify-center text-muted transition-colors pointer-coarse:size-11 hover:bg-sunken hover:text-ink";
const iconBox = { small: "size-8 rounded-md", normal: "size-9 rounded-lg" } as const;
const glyphSize = { small: "size-4", normal: "size-[1.15rem]" } as const;

export function IconButton({ label, icon: Glyph, size = "normal", className = "", ...rest }: IconProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`${iconLook} disabled:pointer-events-none disabled:opacity-40 ${iconBox[size]} ${className}`}
    >
      <Glyph aria-hidden className={glyphSize[size]} />
    </button>
  );
}
