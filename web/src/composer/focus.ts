/** The keyboard is drawn on the screen, over half of the page. */
export const TOUCH = "(pointer: coarse)";

export const onTouch = (): boolean => matchMedia(TOUCH).matches;

/** Puts the caret into the composer of the page; what is edited in a message is another text. */
export function focusMessage(): boolean {
  const text = document.querySelector<HTMLElement>("form[data-composer] .composer-text");
  text?.focus();
  return text !== null;
}

/** After a button: the next key is for the message. On a touch screen that would bring up the keyboard, which the person did not ask for. */
export function backToMessage(): void {
  if (!onTouch()) focusMessage();
}
