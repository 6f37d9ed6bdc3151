import { words } from "../words";
import type { Picture } from "./parts";

interface Props {
  pictures: Picture[];
  /** What they are, for who cannot see them. */
  alt: string;
  /** How they stand in their message. */
  className: string;
  /** How high one may be. */
  size: string;
}

/** The pictures of a message, each of which opens in a tab of its own. */
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
