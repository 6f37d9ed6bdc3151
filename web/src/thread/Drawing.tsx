import { Image } from "lucide-react";
import { OwnPicture } from "../ui/OwnPicture";
import { words } from "../words";
import { drawingOf, type Drawn } from "./drawing";
import { escapeUnseen } from "./json";
import type { ToolPart } from "./parts";

interface Props {
  part: ToolPart;
  state: Drawn;
  /** The text of the answer. Once it contains the picture, the picture is shown there only. */
  text: string;
}

/** Shows a call of generate_image: the description and size, and the picture or a placeholder until the answer shows it. */
export function Drawing({ part, state, text }: Props) {
  const { prompt, width, height, url } = drawingOf(part);
  if (url && text.includes(url)) return null;
  const shape = { aspectRatio: `${width} / ${height}` };
  return (
    <figure className="border-t border-line px-3.5 py-3">
      {url ? (
        <OwnPicture src={url} alt={words.message.generatedImage} style={shape} className="w-full max-w-sm rounded-xl border border-line object-cover" />
      ) : (
        <div role="img" aria-label={words.tools.drawing} style={shape} className="flex w-full max-w-sm items-center justify-center rounded-xl border border-dashed border-edge bg-sunken text-muted">
          <Image aria-hidden className={`size-8 ${state === "running" ? "animate-pulse motion-reduce:animate-none" : ""}`} />
        </div>
      )}
      <figcaption className="mt-2 text-sm">
        <p dir="auto" className="line-clamp-3 break-words">
          {escapeUnseen(prompt)}
        </p>
        <p className="mt-0.5 text-xs text-muted">{words.tools.size(width, height)}</p>
      </figcaption>
    </figure>
  );
}
