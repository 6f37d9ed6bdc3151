import type { ImgHTMLAttributes } from "react";
import { useFile } from "../api/files";

type Props = ImgHTMLAttributes<HTMLImageElement> & { src: string; alt: string };

/** An image from the server. With an account it is fetched with the token. */
export function OwnPicture({ src, alt, className = "", ...rest }: Props) {
  const from = useFile(src);
  if (from === undefined) return <span aria-busy="true" className={`block min-h-16 min-w-16 bg-sunken ${className}`} />;
  return <img {...rest} src={from ?? src} alt={alt} className={className} />;
}
