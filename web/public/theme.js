// The chosen look, before anything is drawn; src/shell/theme.ts changes it.
try {
  const look = localStorage.getItem("palaver.theme");
  if (look === "light" || look === "dark") document.documentElement.dataset.theme = look;
} catch {
  // No storage: the system's look.
}
