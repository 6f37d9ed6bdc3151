import { ownPicture, toolName, type ToolPart } from "./parts";

/** The states in which a drawing is shown: while it is generated, and afterwards. */
export type Drawn = "running" | "done";

export const isDrawing = (p: ToolPart): boolean => toolName(p) === "generate_image";

interface Shape {
  prompt: string;
  width: number;
  height: number;
  /** The URL of the picture; absent until it is generated. */
  url?: string;
}

const SQUARE = 1024;

/** What a call of generate_image draws. Without a size, the image model chooses; most draw squares. */
export function drawingOf(p: ToolPart): Shape {
  const { prompt, size } = (typeof p.input === "object" && p.input !== null ? p.input : {}) as { prompt?: unknown; size?: unknown };
  const [, width, height] = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(typeof size === "string" ? size : "") ?? [];
  const output = p.state === "output-available" && typeof p.output === "string" ? p.output : "";
  const url = /!\[[^\][]{0,5000}\]\(([^()\s]+)\)/.exec(output)?.[1];
  return {
    prompt: typeof prompt === "string" ? prompt : "",
    width: Number(width ?? SQUARE),
    height: Number(height ?? SQUARE),
    ...(url && ownPicture(url) && { url }),
  };
}
