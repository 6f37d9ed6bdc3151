import { QueryObserver } from "@tanstack/react-query";
import { expect, it } from "vitest";
import { queries, refresh } from "./query";

it("repeats a request that started before the invalidation, because its result may be stale", async () => {
  const asked: ((answer: string) => void)[] = [];
  const observer = new QueryObserver(queries, { queryKey: ["things", "one"], queryFn: () => new Promise<string>((resolve) => asked.push(resolve)) });
  const end = observer.subscribe(() => {});
  expect(asked.length).toBe(1);
  const refreshed = refresh(["things"]);
  await expect.poll(() => asked.length).toBe(2);
  asked[0]!("old");
  asked[1]!("new");
  await refreshed;
  expect(observer.getCurrentResult().data).toBe("new");
  end();
});
