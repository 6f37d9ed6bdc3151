/** Puts the caret into the composer of the page; what is edited in a message is another text. */
export function focusMessage(): boolean {
  const text = document.querySelector<HTMLElement>("form[aria-label=Message] .composer-text");
  text?.focus();
  return text !== null;
}
