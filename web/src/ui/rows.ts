const firstButton = (row: Element) => row.querySelector<HTMLElement>("button:enabled");

/** Where a person goes on when the row of a list that holds an element goes: the next row, or the one before, or what is above the list. */
export function besideRow(of: Element): HTMLElement | undefined {
  const list = of.closest("ul")!;
  const rows = [...list.children];
  const at = rows.indexOf(of.closest("li")!);
  const near = [...rows.slice(at + 1), ...rows.slice(0, at).reverse()].map(firstButton).find((button) => button !== null);
  const isAbove = (button: Element) => list.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_PRECEDING;
  return near ?? [...document.querySelectorAll<HTMLElement>("button:enabled")].filter(isAbove).at(-1);
}
