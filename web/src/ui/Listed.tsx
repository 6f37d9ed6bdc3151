import type { ReactElement, Ref } from "react";
import type { CustomContainerComponentProps } from "virtua";

type Tag = "div" | "ul";

/**
 * What virtua puts its items into. Its own lets no pointer through while the list
 * scrolls and a moment longer: what is pressed then would be lost, and in a
 * conversation that follows its answer that is everything.
 */
const listed = (As: Tag) =>
  function Listed({ style, ref, children }: CustomContainerComponentProps): ReactElement {
    return (
      <As ref={ref as Ref<never>} style={{ ...style, pointerEvents: undefined }}>
        {children}
      </As>
    );
  };

export const ListedDiv = listed("div");
export const ListedUl = listed("ul");
