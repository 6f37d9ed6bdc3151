const firstButton = (row: Element) => row.querySelector<HTMLElement>("button:enabled");

/** Where the focus goes when a row of a list is removed: the next row, else the previous one, else the element above the list. */
export function besideRow(of: Element): HTMLElement | undefined {
  const list = of.closest("ul")!;
  const rows = [...list.children];
  const at = rows.indexOf(of.closest("li")!);
  const near = [...rows.slice(at + 1), ...rows.slice(0, at).reverse()].map(firstButton).find((button) => button !== null);
  const isAbove = (button: Element) => list.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_PRECEDING;
  return near ?? [...document.querySelectorAll<HTMLElement>("button:enabled")].filter(isAbove).at(-1);
}
