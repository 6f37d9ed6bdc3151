// Diagrams are drawn by Mermaid in a hidden frame (public/diagram), whose origin is none and whose
// policy allows no request, and shown as pictures. So no text of a document becomes live HTML.

import { words } from "../words";

/** A diagram as SVG, with its size in px. */
export interface Drawn {
  svg: string;
  width: number;
  height: number;
}

interface Frame {
  el: HTMLIFrameElement;
  loaded: Promise<void>;
}

const MOST_CHARACTERS = 10_000;
const MOST_SVG = 2_000_000;
const MOST_PX = 20_000;
/** The time to load Mermaid and draw one diagram. */
const LIMIT_MS = 20_000;
const MOST_TIMEOUTS = 2;
const MOST_KEPT = 40;

const kept = new Map<string, Promise<Drawn | null>>();
let last: Promise<unknown> = Promise.resolve();
let frame: Frame | null = null;
let timeouts = 0;

/** Draws a diagram; null if its text is invalid or too long, or if it takes too long. */
export function draw(code: string, dark: boolean): Promise<Drawn | null> {
  if (code.length > MOST_CHARACTERS) return Promise.resolve(null);
  const key = `${dark} ${code}`;
  const known = kept.get(key);
  if (known) return known;
  const drawing = last.then(() => drawNow(code, dark)).catch(() => null);
  last = drawing;
  kept.set(key, drawing);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return drawing;
}

async function drawNow(code: string, dark: boolean): Promise<Drawn | null> {
  if (timeouts >= MOST_TIMEOUTS) return null;
  frame ??= open();
  const { el, loaded } = frame;
  const channel = new MessageChannel();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const got = await new Promise<unknown>((resolve) => {
    timer = setTimeout(resolve, LIMIT_MS);
    channel.port1.onmessage = (e) => resolve(e.data);
    void loaded.then(() => el.contentWindow!.postMessage({ code, dark }, "*", [channel.port2])); // its origin is none
  });
  clearTimeout(timer);
  channel.port1.close();
  if (got !== undefined) return valid(got);
  timeouts++;
  el.remove(); // ends its work
  frame = null;
  return null;
}

/** Opens the hidden frame. It is laid out, because Mermaid measures its texts. */
function open(): Frame {
  const el = document.createElement("iframe");
  el.title = words.message.diagram;
  el.ariaHidden = "true";
  el.tabIndex = -1;
  el.setAttribute("sandbox", "allow-scripts");
  Object.assign(el.style, { position: "fixed", left: "-2000px", top: "0", width: "1200px", height: "800px", visibility: "hidden" });
  el.src = "/diagram/frame.html";
  const loaded = new Promise<void>((resolve) => (el.onload = () => resolve()));
  document.body.append(el);
  return { el, loaded };
}

/** A picture does not have the page's styles. */
const STILL = "<style>@media (prefers-reduced-motion:reduce){*{animation:none!important}}</style></svg>";

/** The frame's answer, which is untrusted. */
export function valid(got: unknown): Drawn | null {
  const { svg, width, height } = (typeof got === "object" && got !== null ? got : {}) as Record<string, unknown>;
  const size = (n: unknown): n is number => typeof n === "number" && n > 0 && n < MOST_PX;
  return typeof svg === "string" && svg.length <= MOST_SVG && size(width) && size(height) ? { svg: svg.replace(/<\/svg>\s*$/, STILL), width, height } : null;
}
