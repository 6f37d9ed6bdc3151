// Runs the scenario in Node or Bun, and prints its result.
import { scenario } from "./scenario.mjs";

console.log(JSON.stringify({ runtime: process.versions.bun ? "bun" : "node", ...(await scenario(JSON.parse(process.argv[2]))) }));
