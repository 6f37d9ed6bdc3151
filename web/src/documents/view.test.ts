// @vitest-environment jsdom
import { act, createElement } from "react";
import { createRoot } from "react-dom/client";
import { beforeEach, expect, it, vi } from "vitest";
import { useView } from "./ViewSwitch";

vi.mock("./library", () => ({ useLibrary: () => ({ docs: [{ id: "a", format: "pdf" }, { id: "b", format: "pdf" }, { id: "p", format: "png" }, { id: "m", format: "md" }] }) }));

let view: ReturnType<typeof useView>;
const show = async (id: string) => {
  const root = createRoot(document.createElement("div"));
  await act(async () => root.render(createElement(() => ((view = useView(id, false)), null))));
};

beforeEach(() => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  localStorage.clear();
});

it("the choice of text counts for all documents of a type, and for no other type", async () => {
  await show("a");
  expect(view.view).toBe("pages");
  await act(async () => view.choose("text"));
  expect(view.view).toBe("text");
  await show("b");
  expect(view.view).toBe("text");
  await show("p");
  expect(view.view).toBe("pages");
  await show("m");
  expect([view.view, view.possible]).toEqual(["text", false]);
});

it("a document whose pages fail is shown as text, without a choice for others", async () => {
  await show("a");
  await act(async () => view.fail());
  expect([view.view, view.failed, view.possible]).toEqual(["text", true, false]);
  await show("b");
  expect(view.view).toBe("pages");
});
