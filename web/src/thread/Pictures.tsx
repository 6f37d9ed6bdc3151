import { useFile } from "../api/files";
import { words } from "../words";
import type { Picture } from "./parts";

interface Props {
  pictures: Picture[];
  /** The alt text of each image. */
  alt: string;
  /** CSS classes of the list. */
  className: string;
  /** CSS classes that limit the size. */
  size: string;
}

/** The images of a message. Each opens in a new tab. */
export function Pictures({ pictures, alt, className, size }: Props) {
  if (pictures.length === 0) return null;
  return (
    <ul aria-label={words.message.images} className={`flex flex-wrap ${className}`}>
      {pictures.map((p) => (
        <li key={p.url}>
          <One url={p.url} alt={alt} size={size} />
        </li>
      ))}
    </ul>
  );
}

function One({ url, alt, size }: { url: string; alt: string; size: string }) {
  const src = useFile(url);
  if (src === undefined) return <span aria-busy="true" className={`block min-h-24 min-w-24 rounded-xl border border-line bg-sunken ${size}`} />;
  return (
    <a href={src ?? url} target="_blank" rel="noopener noreferrer">
      <img src={src ?? url} alt={alt} loading="lazy" className={`rounded-xl border border-line ${size}`} />
    </a>
  );
}
