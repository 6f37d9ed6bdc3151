import { lazy as reactLazy, type ComponentType } from "react";
import { words } from "../words";
import { toast } from "./toast";

const WAITS_MS = [400, 1_000, 2_000, 4_000, 8_000];
const TRIES = 3; // while the server answers: then it no longer has this version of the page

/** Stylesheets of chunks that failed to load. Vite asks for each only once. */
const unstyled = new Set<HTMLLinkElement>();
if (typeof document !== "undefined") document.addEventListener("error", (e) => e.target instanceof HTMLLinkElement && e.target.rel === "stylesheet" && unstyled.add(e.target), true);

/** Asks for them again. Those in vain, which failed for another chunk, do not make this one fail. */
const restyle = (vain: Set<HTMLLinkElement>): Promise<unknown> =>
  Promise.all(
    [...unstyled].map(
      (old) =>
        new Promise<void>((resolve, reject) => {
          const link = old.cloneNode() as HTMLLinkElement;
          link.onload = () => {
            unstyled.delete(old);
            resolve();
          };
          link.onerror = () => {
            unstyled.delete(link); // the old one stands for it
            link.remove();
            if (vain.has(old)) resolve();
            else reject(new Error(`${link.href} could not be loaded.`));
          };
          old.after(link);
        }),
    ),
  );

let waiting: Promise<void> | undefined;

/** Waits until the server answers, and says meanwhile that it does not. */
const serverAnswers = (): Promise<void> => (waiting ??= poll().finally(() => (waiting = undefined)));

async function poll(): Promise<void> {
  let close = () => {};
  for (let tries = 0; ; tries++) {
    try {
      if ((await fetch("/favicon.svg", { method: "HEAD", cache: "no-store" })).status < 500) return close();
    } catch {
      // It cannot be reached.
    }
    if (tries === 0) close = toast.error(words.thread.reconnecting(words.problems.unreachable), { timeout: 0 });
    await pause(WAITS_MS[Math.min(tries, WAITS_MS.length - 1)]!);
  }
}

/** Waits for ms, or until the browser is online again. */
const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
  });

/** Loads a chunk of the page, however long the server cannot be reached. It fails if the server answers but does not have it. */
export async function loaded<T>(read: () => Promise<T>): Promise<T> {
  const vain = new Set(unstyled);
  for (let left = TRIES; ; ) {
    try {
      const chunk = await read();
      await restyle(vain);
      return chunk;
    } catch (err) {
      if (--left === 0) throw err;
      await serverAnswers();
    }
  }
}

/** React's lazy() for a chunk of the page, loaded like loaded(). */
export const lazy = <T extends ComponentType<any>>(read: () => Promise<{ default: T }>) => reactLazy(() => loaded(read));
