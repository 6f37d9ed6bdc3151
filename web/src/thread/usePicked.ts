import { useCallback, useRef, useState } from "react";
import { userAt } from "./parts";
import type { ThreadStore } from "./store";
import { versionsOf } from "./tree";
import type { Place, Reader } from "./useReader";

/**
 * Returns the version that was picked last, and a function to pick one. Its picker
 * stays at the same place on the screen until the reader moves. It gets the focus
 * if that is lost when the pressed picker is rendered again.
 */
export function usePicked(store: ThreadStore, reader: Reader): [picked: string, show: (turn: string) => Promise<void>] {
  const [picked, setPicked] = useState("");
  const at = useRef(reader);
  at.current = reader;
  const show = useCallback(
    async (turn: string) => {
      const { box, hold, holds, release, settle } = at.current;
      const picker = (of: string) => box.current?.querySelector<HTMLElement>(`[data-versions="${of}"]`);
      const button = versionsOf(store.snapshot().branches, turn).map(picker).find(Boolean);
      if (!button) return;
      const place: Place = { find: () => picker(turn), top: button.getBoundingClientRect().top };
      hold(place);
      setPicked(turn);
      const look = () => {
        if (!holds(place)) return;
        const now = picker(turn);
        if (!now?.checkVisibility({ visibilityProperty: true })) return void requestAnimationFrame(look);
        settle();
        const focused = document.activeElement;
        if (focused === document.body || focused?.matches(":disabled")) now.querySelector<HTMLElement>("button:not(:disabled)")?.focus({ preventScroll: true });
      };
      look();
      await store.show(turn);
      const here = () => userAt(store.chat.messages, turn) >= 0;
      while (holds(place) && !here() && store.snapshot().more && !store.snapshot().moreProblem) {
        await store.loadMore();
        await new Promise(requestAnimationFrame);
      }
      if (!here()) release(place); // it failed to load
    },
    [store],
  );
  return [picked, show];
}
