import { afterEach, expect, it, vi } from "vitest";
import { saveProfile } from "./me";

afterEach(() => vi.unstubAllGlobals());

it("saves a change of the profile beside what it has", async () => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    sent.push(JSON.parse(String(init.body)));
    return new Response("{}", { headers: { "Content-Type": "application/json" } });
  });
  const me = { id: "me", industry: "rail", location: "Bern", instructions: "Be brief.", hide_samples: false };
  await saveProfile(me, { hide_samples: true });
  await saveProfile({ ...me, hide_samples: true }, { industry: "banking", location: "" });
  expect(sent).toEqual([
    { industry: "rail", location: "Bern", instructions: "Be brief.", hide_samples: true },
    { industry: "banking", location: "", instructions: "Be brief.", hide_samples: true },
  ]);
});
