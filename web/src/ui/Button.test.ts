// @vitest-environment jsdom
import { ChevronRight } from "lucide-react";
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { expect, it, vi } from "vitest";
import { Button, IconButton } from "./Button";

vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);

it.each([["a button", Button], ["an icon", IconButton]])("%s that is disabled while it has the focus keeps it, and does nothing", async (_, Kind) => {
  const box = document.body.appendChild(document.createElement("div"));
  const root = createRoot(box);
  const onClick = vi.fn();
  const show = (disabled: boolean) => act(async () => root.render(createElement(Kind as typeof IconButton, { label: "Next", icon: ChevronRight, children: "Next", disabled, onClick } as never)));
  await show(false);
  const button = box.querySelector("button")!;
  button.focus();
  await show(true);
  expect([button.disabled, button.getAttribute("aria-disabled")]).toEqual([false, "true"]);
  button.click();
  expect(onClick).not.toHaveBeenCalled();
  await act(async () => button.blur());
  expect([button.disabled, button.getAttribute("aria-disabled")]).toEqual([true, null]);
  await show(false);
  button.click();
  expect(onClick).toHaveBeenCalledOnce();
});
