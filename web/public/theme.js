// The chosen look and the frame of the address (index.html), before anything is drawn;
// src/shell/theme.ts and src/shell/App.tsx change them.
{
  const { dataset } = document.documentElement;
  const [, page, id] = location.pathname.split("/");
  if (page === "" || (page === "chat" && !id)) dataset.frame = "welcome";
  else if (["s", "print", "embed"].includes(page)) dataset.frame = "none";
  else dataset.frame = page === "chat" ? "thread" : "side";
  try {
    const look = localStorage.getItem("palaver.theme");
    if (look === "light" || look === "dark") dataset.theme = look;
    if (localStorage.getItem("palaver.sidebar.folded") !== null) dataset.folded = "";
  } catch {
    // No storage: the system's look.
  }
}
