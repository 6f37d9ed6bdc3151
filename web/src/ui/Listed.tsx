import type { ReactElement, Ref } from "react";
import type { CustomContainerComponentProps } from "virtua";

type Tag = "div" | "ul";

/**
 * The element that virtua renders its items into. The default element ignores the
 * pointer while the list scrolls. A streaming answer scrolls all the time, so clicks
 * would be lost.
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
