import type { LucideIcon } from "lucide-react";
import { useCallback, useRef, useState, type ButtonHTMLAttributes, type ReactNode, type Ref } from "react";

type Native = ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

/** The attributes of a button. One that is disabled while it has the focus keeps the focus: disabled in earnest, it would leave it to the page. */
function useNative({ disabled = false, ref, onClick, onBlur, ...rest }: Native): Native {
  const own = useRef<HTMLButtonElement>(null);
  const [, blurred] = useState(0);
  const both = useCallback(
    (el: HTMLButtonElement | null) => {
      own.current = el;
      if (typeof ref === "function") return ref(el);
      if (ref) ref.current = el;
    },
    [ref],
  );
  const keeps = disabled && own.current !== null && document.activeElement === own.current;
  return {
    ...rest,
    ref: both,
    disabled: disabled && !keeps,
    ...(keeps && { "aria-disabled": true }),
    onClick: keeps ? (e) => e.preventDefault() : onClick,
    onBlur: (e) => {
      if (keeps) blurred((n) => n + 1);
      onBlur?.(e);
    },
  };
}

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
      {...useNative(rest)}
      className={`inline-flex h-9 shrink-0 items-center justify-center gap-2 rounded-lg px-3.5 text-sm font-medium transition-colors pointer-coarse:h-11 disabled:opacity-50 aria-disabled:cursor-default aria-disabled:opacity-50 ${looks[variant]} ${className}`}
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
      {...useNative(rest)}
      className={`${iconLook} disabled:pointer-events-none disabled:opacity-40 aria-disabled:cursor-default aria-disabled:opacity-40 ${iconBox[size]} ${className}`}
    >
      <Glyph aria-hidden className={glyphSize[size]} />
    </button>
  );
}
