import { FileText, Globe, HardDrive, Presentation, Sheet, type LucideIcon } from "lucide-react";
import type { LinkKind } from "./links";

export const kindIcons: Readonly<Record<LinkKind, LucideIcon>> = { drive: HardDrive, doc: FileText, sheet: Sheet, slides: Presentation, web: Globe };
