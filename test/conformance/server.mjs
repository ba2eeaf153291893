// Serves what the conformance suite calls over HTTP on a free port, prints the address, and ends with its input.
// The skills are its own, or those of a second server behind it: server.mjs own|http|stdio|dual|URL. `http` and `stdio` are
// Skillgate again, `dual` is a server of both generations on the bare SDK, and a URL is any other server.

import { once } from "node:events";

import { createRuntime } from "../../dist/src/runtime.js";
import { SERVER_DEFAULTS, serveHttp } from "../../dist/src/surfaces/http/index.js";
import { fixtureRuntime } from "./fixtures.mjs";

/** What is started behind the gateway. */
const SCRIPTS = { stdio: "stdio-server.mjs", dual: "dual-server.mjs" };

const [skills = "own"] = process.argv.slice(2);
const behind = skills === "http" ? await listen(await fixtureRuntime()) : undefined;
const upstream = Object.hasOwn(SCRIPTS, skills)
  ? { command: process.execPath, args: [new URL(SCRIPTS[skills], import.meta.url).pathname] }
  : { url: behind === undefined ? skills : `${behind.server.url}/mcp` };
const runtime =
  skills === "own"
    ? await fixtureRuntime()
    : await createRuntime({ skillsDir: false, mcpServers: { reference: upstream } });
const front = await listen(runtime);
await runtime.ready;
console.log(`${front.server.url}/mcp`);
await once(process.stdin.resume(), "end");
await front.close();
await behind?.close();

async function listen(runtime) {
  const settings = { ...SERVER_DEFAULTS, port: 0, auth: false, expose: "tools", names: "raw", drainSeconds: 0 };
  const server = await serveHttp(runtime, settings);
  return {
    server,
    close: async () => {
      await server.close();
      await runtime.close();
    },
  };
}
