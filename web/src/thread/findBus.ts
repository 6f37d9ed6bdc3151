// The find bar belongs to the open conversation; its button is in the header of the page.

const listeners = new Set<() => void>();

/** Opens the find bar of the conversation. */
export const openFind = (): void => listeners.forEach((open) => open());

/** Calls open when the find bar is to be opened. Returns the function that ends this. */
export function onFind(open: () => void): () => void {
  listeners.add(open);
  return () => void listeners.delete(open);
}
