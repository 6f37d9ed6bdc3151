/** The on-screen keyboard covers half of the page. */
export const TOUCH = "(pointer: coarse)";

export const onTouch = (): boolean => matchMedia(TOUCH).matches;

/** Focuses the composer of the page, not the editor of a message. */
export function focusMessage(): boolean {
  const text = document.querySelector<HTMLElement>("form[data-composer] .composer-text");
  text?.focus();
  return text !== null;
}

/** Returns the focus to the composer after a button. On a touch screen it does not, because that would open the keyboard. */
export function backToMessage(): void {
  if (!onTouch()) focusMessage();
}
