/** The name under which lists show a document: its label tells equal titles apart. */
export const nameOf = (d: { title: string; label?: string }): string => d.label ?? d.title;
