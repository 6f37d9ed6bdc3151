import { download } from "../api/files";

/** Makes download links to the server work with an account. The browser would follow them without the token. */
export function downloadWithToken(): void {
  document.addEventListener("click", (e) => {
    const link = e.target instanceof Element ? e.target.closest<HTMLAnchorElement>('a[download][href^="/api/"]') : null;
    if (!link) return;
    e.preventDefault();
    void download(link.getAttribute("href")!, link.download);
  });
}
