/** Whether an element marked with data-layer (a dialog, drawer or menu) is open and receives the keys. A toast has role dialog, but is no layer. */
export const layerIsOpen = (): boolean => document.querySelector("[data-layer]") !== null;
