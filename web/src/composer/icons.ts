import { FileText, Globe, Layers, StickyNote, Zap, type LucideIcon } from "lucide-react";
import type { Category } from "./mentions";

export const icons: Record<Category, LucideIcon> = { document: FileText, set: Layers, action: Zap, web: Globe, item: StickyNote };
