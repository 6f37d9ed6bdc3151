import { download } from "../api/files";

/** Makes links to files of the server work with an account: a link sends no token. */
export function downloadWithToken(): void {
  document.addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>('a[download][href^="/api/"]') : null;
    if (!link) return;
    e.preventDefault();
    void download(link.getAttribute("href")!, link.download);
  });
}
