import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect, useRef } from "react";
import { backToMessage } from "../composer/focus";
import { words } from "../words";
import { IconButton } from "./Button";

const manager = Toast.createToastManager();

interface Options {
  action?: { label: string; onClick: () => void };
  /** In milliseconds. */
  timeout?: number;
  /** Called when the toast has closed, for any reason. */
  onClose?: () => void;
}

function add(text: string, type: "note" | "error", { action, timeout = 6000, onClose }: Options = {}): () => void {
  const id: string = manager.add({
    description: text,
    type,
    timeout,
    priority: type === "error" ? "high" : "low",
    ...(onClose && { onClose }),
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          action.onClick();
          manager.close(id);
          backToMessage();
        },
      },
    }),
  });
  return () => manager.close(id);
}

/** Shows a short message at the edge of the page, which closes by itself, or by the function that is returned. */
export const toast = Object.assign((text: string, options?: Options) => add(text, "note", options), {
  error: (text: string, options?: Options) => add(text, "error", options),
});

/** Shows the toasts: below the list of conversations; on a narrow page at the top, or at the bottom of a drawer. ToastRoom reserves their space. There is no limit, because any toast may have the button that undoes a deletion. */
export function Toaster() {
  return (
    <Toast.Provider toastManager={manager} limit={Infinity}>
      <Toast.Portal>
        <Toast.Viewport aria-label={words.shell.notices} className="pointer-events-none fixed top-13 right-1 left-1 z-60 max-h-[calc(100dvh-4rem)] space-y-2 overflow-x-hidden overflow-y-auto p-3 max-md:in-[:has([data-drawer])]:top-auto max-md:in-[:has([data-drawer])]:bottom-1 md:top-auto md:right-auto md:bottom-1 md:left-0 md:w-68 md:p-2">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

const HEIGHT = "--toasts";

/** Empty space as high as the toasts, so that they cover nothing. */
export const ToastRoom = () => <div aria-hidden className="h-(--toasts) shrink-0" />;

function List() {
  const { toasts } = Toast.useToastManager();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const box = end.current?.parentElement;
    const style = document.documentElement.style;
    if (!box || toasts.length === 0) return void style.setProperty(HEIGHT, "0px");
    const measure = () => style.setProperty(HEIGHT, `${box.offsetHeight}px`);
    const watch = new ResizeObserver(measure);
    watch.observe(box);
    return () => watch.disconnect();
  }, [toasts.length]);
  const list = toasts.map((t) => (
    <Toast.Root
      key={t.id}
      toast={t}
      aria-label={words.shell.notice}
      swipeDirection={["right", "up", "down"]}
      onKeyDown={(e) => e.key === "Escape" && e.preventDefault()} // Escape closes the toast; it must not stop the answer as well
      className="pointer-events-auto rounded-xl border border-line bg-surface shadow-float transition duration-200 data-ending-style:translate-y-2 data-ending-style:opacity-0 data-starting-style:translate-y-2 data-starting-style:opacity-0 data-[type=error]:border-bad"
    >
      <Toast.Content className="flex items-center gap-2 py-2 pr-2 pl-4 text-sm">
        <Toast.Description className="min-w-0 flex-1 py-1" />
        {t.actionProps && <Toast.Action className="shrink-0 rounded-md px-2.5 py-1.5 font-medium text-accent pointer-coarse:py-3 hover:bg-accent-soft" />}
        <Toast.Close aria-hidden={false} render={<IconButton label={words.common.dismiss} icon={X} size="small" />} />
      </Toast.Content>
    </Toast.Root>
  ));
  return (
    <>
      {list}
      <div ref={end} hidden />
    </>
  );
}
