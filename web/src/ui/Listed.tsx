import type { ReactElement, Ref } from "react";
import type { CustomContainerComponentProps } from "virtua";

type Tag = "div" | "ul";

/**
 * The element that virtua renders its items into. virtua's own ignores the pointer
 * while the list scrolls, and clicks would be lost during a streaming answer, which
 * scrolls all the time.
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
