import { BookOpen, FileOutput, Inbox, Lightbulb, ListChecks, type LucideIcon } from "lucide-react";
import type { Kind } from "./board";

/** The icon of each column. */
export const columnIcons: Record<Kind, LucideIcon> = { input: Inbox, fact: BookOpen, insight: Lightbulb, recommendation: ListChecks, output: FileOutput };
