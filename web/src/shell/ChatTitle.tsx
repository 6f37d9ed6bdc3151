import { Ellipsis } from "lucide-react";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { Conversation } from "../api/types";
import { SharedMark } from "../spaces/SharedMark";
import { IconButton } from "../ui/Button";
import { words } from "../words";
import { ConversationMenu } from "./ConversationMenu";
import { archiveConversation, deleteConversation } from "./conversations";
import { Rename } from "./Rename";
import type { Go } from "./useRoute";

interface Props {
  title: string;
  /** Null while the server has none: then there is no menu. */
  conversation: Conversation | null;
  temporary: boolean;
  onFind: (() => void) | undefined;
  onOpen: Go;
}

/** The title of the open page, with the menu of its chat. */
export function ChatTitle({ title, conversation: c, temporary, onFind, onOpen }: Props) {
  const [renaming, setRenaming] = useState(false);
  const more = useRef<HTMLButtonElement>(null);
  const renamed = (focused: boolean) => {
    flushSync(() => setRenaming(false));
    if (focused) more.current?.focus();
  };
  const remove = (c: Conversation) => {
    onOpen(null, "replace"); // to the welcome page
    deleteConversation(c, () => location.pathname === "/" && onOpen(c.id, "replace")); // unless the user has left since
  };
  if (renaming && c) {
    return (
      <div className="w-80 min-w-0">
        <Rename conversation={c} onDone={renamed} />
      </div>
    );
  }
  return (
    <>
      <h1 dir="auto" className="min-w-0 truncate text-sm font-medium text-muted">
        {title}
      </h1>
      {c && <SharedMark named conversation={c} />}
      {c && (
        <ConversationMenu
          conversation={c}
          temporary={temporary}
          align="start"
          trigger={<IconButton ref={more} label={words.shell.chatOptions} icon={Ellipsis} size="small" className="-ms-1 shrink-0" />}
          onFind={onFind}
          onRename={() => setRenaming(true)}
          onArchive={() => void archiveConversation(c)}
          onDelete={() => remove(c)}
        />
      )}
    </>
  );
}
