// Serves what the conformance suite calls over HTTP on a free port, prints the address, and ends with its input.
// The skills are its own, or those of a second server behind it, over HTTP or over stdio: server.mjs own|http|stdio

import { once } from "node:events";

import { createRuntime } from "../../dist/src/index.js";
import { SERVER_DEFAULTS, serveHttp } from "../../dist/src/surfaces/http/index.js";
import { fixtureRuntime } from "./fixtures.mjs";

const STDIO_SERVER = new URL("stdio-server.mjs", import.meta.url).pathname;

const [skills = "own"] = process.argv.slice(2);
const behind = skills === "http" ? await listen(await fixtureRuntime()) : undefined;
const upstream =
  skills === "http" ? { url: `${behind?.server.url}/mcp` } : { command: process.execPath, args: [STDIO_SERVER] };
const runtime =
  skills === "own"
    ? await fixtureRuntime()
    : await createRuntime({ skillsDir: false, mcpServers: { reference: upstream } });
const front = await listen(runtime);
await runtime.ready;
if (skills === "stdio") await callAsOneWhoCanBeAsked();
console.log(`${front.server.url}/mcp`);
await once(process.stdin.resume(), "end");
await front.close();
await behind?.close();

/** Such callers have a process of their own behind the gateway. The suite gives the first of them 600 ms, its start included. */
async function callAsOneWhoCanBeAsked() {
  const client = { can: (request) => request === "elicitation/create", ask: () => Promise.reject(new Error("nobody")) };
  await runtime.call("ReferenceMCP.test_simple_text", {}, { observer: { client } });
}

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
