/** Whether an input method is composing a word with this key. Safari reports it only by the key code. */
export const composing = (e: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean => e.isComposing || e.keyCode === 229;
