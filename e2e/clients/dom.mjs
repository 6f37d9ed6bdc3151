// What a React app needs of a browser, for tests without one; import it before
// react-dom. Network and abort signals stay Node's own.
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of ["document", "navigator", "HTMLElement", "HTMLIFrameElement", "Element", "Node", "MutationObserver", "ResizeObserver", "getComputedStyle", "localStorage", "requestAnimationFrame", "cancelAnimationFrame"]) {
  globalThis[name] ??= typeof window[name] === "function" && !/^[A-Z]/.test(name) ? window[name].bind(window) : window[name];
}
// An answer of the page's own address space.
globalThis.location ??= window.location;

const { createRoot } = await import("react-dom/client");

/** Renders an element into a new page; stop() takes it away. */
export function render(element) {
  const container = document.createElement("div");
  document.body.append(container);
  const root = createRoot(container);
  root.render(element);
  return {
    container,
    lines: () => [...container.querySelectorAll("li")].map((li) => li.textContent),
    stop: () => {
      root.unmount();
      container.remove();
    },
  };
}
