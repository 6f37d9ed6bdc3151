/** Whether a dialog, drawer or menu lies over the page and has the keys: what is marked with data-layer. A notice, which is a dialog to screen readers, is not. */
export const underLayer = (): boolean => document.querySelector("[data-layer]") !== null;
