import { useQuery } from "@tanstack/react-query";
import type { Doc } from "../api/types";
import type { Node } from "../composer/outgoing";
import { nameOf } from "../documents/names";
import { documentText } from "../documents/text";
import { about, asked, BYTES, headingsOf, isQuestion } from "../shell/ideas";
import { Button } from "../ui/Button";
import { words } from "../words";

const MOST = 3;

/** Questions about the sections of a document that came alone, without words. A click sends one. */
export default function AboutIt({ doc, onAsk }: { doc: Doc; onAsk: (doc: Node) => void }) {
  const { data = "" } = useQuery({ ...documentText(doc.id), enabled: doc.status === "ready" && doc.bytes <= BYTES, retry: false });
  const headings = headingsOf(data, nameOf(doc)).slice(0, MOST);
  if (headings.length === 0) return null;
  return (
    <ul aria-label={words.welcome.ideas} className="mb-2 flex flex-wrap gap-2">
      {headings.map((heading) => (
        <li key={heading} className="max-w-full">
          <Button className="h-auto! min-h-9 max-w-full py-1.5 text-left" onClick={() => onAsk(about(doc, heading).doc)}>
            <span dir="auto" className="min-w-0 break-words">{isQuestion(heading) ? asked(heading) : words.message.followUp(heading)}</span>
          </Button>
        </li>
      ))}
    </ul>
  );
}
