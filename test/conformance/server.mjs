// Serves the fixture skills over HTTP on a free port, prints the address of the endpoint, and ends with its input.

import { once } from "node:events";

import { createRuntime } from "../../dist/src/index.js";
import { SERVER_DEFAULTS, serveHttp } from "../../dist/src/surfaces/http/index.js";
import { conformanceSkills } from "./fixtures.mjs";

let changes = 0;

/** Gives the catalog a skill that it did not have, so that clients hear of it. */
function change() {
  const name = `Change${++changes}Skill`;
  runtime.register({
    name,
    description: "Has just been added",
    source: "code",
    kind: "code",
    methods: [{ name: `added_${changes}`, description: "Does nothing", input: { type: "object" } }],
    invoke: async () => "nothing",
  });
  if (changes > 1) runtime.unregister(`Change${changes - 1}Skill`);
  return "changed";
}

const runtime = await createRuntime({ skillsDir: false, skills: conformanceSkills(change) });
const settings = { ...SERVER_DEFAULTS, port: 0, auth: false, expose: "tools", names: "raw", drainSeconds: 0 };
const server = await serveHttp(runtime, settings);
console.log(`${server.url}/mcp`);
await once(process.stdin.resume(), "end");
await server.close();
await runtime.close();
