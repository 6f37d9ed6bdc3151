import { Suspense, use } from "react";
import type { DocRef } from "../api/types";
import { lazy } from "../ui/lazy";
import type { Props } from "./ImportCard";
import { importOf, Imports } from "./imports";
import { findLinks } from "./links";

const Card = lazy(() => import("./ImportCard")); // most conversations import nothing

export const ImportCard = (props: Props) => (
  <Suspense fallback={null}>
    <Card {...props} />
  </Suspense>
);

/** The cards of a message's imports, except those that are shown elsewhere. */
export function ImportCards({ asked, without, onRead }: { asked: string; without: readonly string[]; onRead: (doc: DocRef) => void }) {
  const { items } = use(Imports);
  return findLinks(asked)
    .filter((l) => !without.includes(l.key))
    .map((l) => {
      const item = importOf(items, l.key);
      return item && <ImportCard key={l.key} item={item} kind={l.kind} onRead={onRead} />;
    });
}
