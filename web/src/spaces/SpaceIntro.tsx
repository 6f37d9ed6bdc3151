import { FolderPlus, MessageCircleQuestion, Users, type LucideIcon } from "lucide-react";
import { Suspense, useState } from "react";
import { Button } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import type { Space } from "./spaces";

const MembersDialog = lazy(() => import("./MembersDialog"));

/** Explains a space that has no documents yet, and offers what comes first. */
export default function SpaceIntro({ space, onAdd }: { space: Space; onAdd: () => void }) {
  const [inviting, invite] = useState(false);
  const { emptySteps } = words.spaces;
  const contributes = space.role !== "reader";
  const manages = space.role === "manager";
  return (
    <section aria-label={words.spaces.empty(space.name)} className="mb-7 rounded-2xl border border-line bg-sunken/50 px-5 py-4 text-sm">
      <ol className="space-y-3">
        <Step icon={FolderPlus} text={contributes ? emptySteps.documents : emptySteps.noDocuments} />
        {manages && <Step icon={Users} text={emptySteps.members} />}
        <Step icon={MessageCircleQuestion} text={emptySteps.chats} />
      </ol>
      {contributes && (
        <div className="mt-4 flex flex-wrap gap-2">
          <Button variant="primary" icon={FolderPlus} onClick={onAdd}>
            {words.welcome.add}
          </Button>
          {manages && (
            <Button icon={Users} onClick={() => invite(true)}>
              {words.spaces.invite}
            </Button>
          )}
        </div>
      )}
      {inviting && (
        <Suspense fallback={null}>
          <MembersDialog space={space} onClose={() => invite(false)} />
        </Suspense>
      )}
    </section>
  );
}

function Step({ icon: Glyph, text }: { icon: LucideIcon; text: string }) {
  return (
    <li className="flex gap-3">
      <Glyph aria-hidden className="mt-0.5 size-4 shrink-0 text-accent" />
      <span>{text}</span>
    </li>
  );
}
