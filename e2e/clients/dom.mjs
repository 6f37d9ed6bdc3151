// Defines the browser APIs that a React app needs, for tests without a browser. Import it
// before react-dom. fetch and abort signals remain those of Node.
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
globalThis.window = window;
for (const name of ["document", "navigator", "HTMLElement", "HTMLIFrameElement", "Element", "Node", "MutationObserver", "ResizeObserver", "getComputedStyle", "localStorage", "requestAnimationFrame", "cancelAnimationFrame"]) {
  globalThis[name] ??= typeof window[name] === "function" && !/^[A-Z]/.test(name) ? window[name].bind(window) : window[name];
}
// The origin of the page.
globalThis.location ??= window.location;

const { createRoot } = await import("react-dom/client");

/** Renders an element into a new page; stop() unmounts it. */
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
