import { Archive, ArchiveRestore, FileDown, Pencil, Pin, PinOff, Printer, Search, Share2, Trash2, UserRoundX, Users } from "lucide-react";
import { Suspense, useState, type ReactElement } from "react";
import { useConfig } from "../api/useConfig";
import { errorText } from "../api/query";
import type { Conversation } from "../api/types";
import { useSpace } from "../spaces/spaces";
import { readHead } from "../thread/heads";
import { lazy, loaded } from "../ui/lazy";
import { Menu, MenuItem, MenuTab } from "../ui/Menu";
import { toast } from "../ui/toast";
import { words } from "../words";
import { changeConversation, printPath, shareInSpace, titleOf } from "./conversations";

const ShareDialog = lazy(() => import("./ShareDialog"));

interface Props {
  conversation: Conversation;
  /** The button that opens it. */
  trigger: ReactElement;
  align?: "start" | "end";
  /** Whether the chat can only be saved and printed. */
  temporary?: boolean;
  /** Opens the search in the chat; without it the menu does not offer it. */
  onFind?: (() => void) | undefined;
  onRename: () => void;
  onArchive: () => void;
  onDelete: () => void;
}

/** What can be done with a conversation: in its row of the list, and beside its title. */
export function ConversationMenu({ conversation: c, trigger, align = "end", temporary = false, onFind, onRename, onArchive, onDelete }: Props) {
  const [sharing, setSharing] = useState(false);
  const { sharedLinks } = useConfig();
  const own = !c.author;
  const here = useSpace();
  const space = here?.id === c.space_id ? here : undefined; // absent for a chat of a space that the person has left
  return (
    <>
      <Menu trigger={trigger} align={align}>
        {onFind && (
          <MenuItem icon={Search} onSelect={onFind}>
            {words.thread.find}
          </MenuItem>
        )}
        {!temporary && own && (
          <>
            <MenuItem icon={Pencil} onSelect={onRename}>
              {words.shell.rename}
            </MenuItem>
            <MenuItem icon={c.pinned ? PinOff : Pin} onSelect={() => void changeConversation(c.id, { pinned: !c.pinned })}>
              {c.pinned ? words.shell.unpin : words.shell.pin}
            </MenuItem>
            {space && (
              <MenuItem icon={c.shared ? UserRoundX : Users} onSelect={() => void shareInSpace(c.id, !c.shared)}>
                {c.shared ? words.spaces.unshare : words.spaces.share}
              </MenuItem>
            )}
            {sharedLinks && (!c.space_id || space?.public_links) && (
              <MenuItem icon={Share2} onSelect={() => setSharing(true)}>
                {words.share.menu}
              </MenuItem>
            )}
          </>
        )}
        <MenuItem icon={FileDown} onSelect={() => void exportOne(c)}>
          {words.shell.exportMarkdown}
        </MenuItem>
        <MenuTab icon={Printer} href={() => printPath(c.id)}>
          {words.shell.print}
        </MenuTab>
        {!temporary && own && (
          <>
            <MenuItem icon={c.archived ? ArchiveRestore : Archive} onSelect={onArchive}>
              {c.archived ? words.shell.unarchive : words.shell.archive}
            </MenuItem>
            <MenuItem icon={Trash2} danger onSelect={onDelete}>
              {words.shell.delete}
            </MenuItem>
          </>
        )}
      </Menu>
      {sharing && (
        <Suspense>
          <ShareDialog conversation={c} onClose={() => setSharing(false)} />
        </Suspense>
      )}
    </>
  );
}

/** Saves a conversation as a Markdown file. */
async function exportOne(c: Conversation): Promise<void> {
  try {
    const { fileName, markdownOf, readAll, save } = await loaded(() => import("../thread/exporting"));
    const title = titleOf(c);
    save(fileName(title), markdownOf(title, await readAll(c.id, new AbortController().signal, readHead(c.id))));
  } catch (err) {
    toast.error(errorText(err));
  }
}
