import { useEffect } from "react";

/** Opens what is folded while the page is printed: nobody can unfold it on paper. */
export function usePrinted(): void {
  useEffect(() => {
    let folded: HTMLDetailsElement[] = [];
    const open = () => {
      folded = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
      for (const d of folded) d.open = true;
    };
    const close = () => {
      for (const d of folded) d.open = false;
      folded = [];
    };
    addEventListener("beforeprint", open);
    addEventListener("afterprint", close);
    return () => {
      removeEventListener("beforeprint", open);
      removeEventListener("afterprint", close);
    };
  }, []);
}
