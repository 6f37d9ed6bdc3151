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
          <a href={p.url} target="_blank" rel="noopener noreferrer">
            <img src={p.url} alt={alt} loading="lazy" className={`rounded-xl border border-line ${size}`} />
          </a>
        </li>
      ))}
    </ul>
  );
}
