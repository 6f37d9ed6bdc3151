/** Whether a key belongs to an input method that is putting a word together. Safari says so by the code alone. */
export const composing = (e: Pick<KeyboardEvent, "isComposing" | "keyCode">): boolean => e.isComposing || e.keyCode === 229;
