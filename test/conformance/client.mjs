// What the conformance suite starts, once for each scenario: connects to the server at the address in the last argument,
// and does there what the scenario named in the environment wants to see.

import { toServerConfig } from "../../dist/src/config/index.js";
import { OWNER } from "../../dist/src/model/caller.js";
import { connectServers } from "../../dist/src/providers/mcp/index.js";

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const url = process.argv.at(-1);

/** How the client is known to the authorization server, where the scenario says so. */
const OAUTH = {
  "auth/basic-cimd": { clientMetadataUrl: "https://conformance-test.local/client-metadata.json" },
  "auth/pre-registration": { clientId: context.client_id, clientSecret: context.client_secret },
  "auth/client-credentials-basic": {
    grant: "client_credentials",
    clientId: context.client_id,
    clientSecret: context.client_secret,
  },
  "auth/client-credentials-jwt": {
    grant: "client_credentials",
    clientId: context.client_id,
    privateKey: context.private_key_pem,
    algorithm: context.signing_algorithm,
  },
};

/** What is called in place of every tool without arguments. */
const CALLS = {
  tools_call: () => [{ name: "add_numbers", arguments: { a: 5, b: 3 } }],
  "http-custom-headers": () => context.toolCalls,
  "json-schema-2020-12-preservation": (tools) => [
    {
      name: tools.find(({ name }) => name.includes("echo")).name,
      arguments: { schema: tools.find(({ name }) => !name.includes("echo")).inputSchema },
    },
  ],
};

/** Whoever is asked for something agrees, and leaves every field to its default. */
const ANSWERS = {
  "elicitation/create": { action: "accept", content: {} },
  "sampling/createMessage": { role: "assistant", model: "none", content: { type: "text", text: "yes" } },
  "roots/list": { roots: [] },
};

const config = { ...toServerConfig("suite", { url }), oauth: OAUTH[scenario] ?? {} };
const provider = connectServers([config], {
  env: process.env,
  clientInfo: { name: "skillgate-conformance", version: "1.0.0" },
  authorize,
});
await provider.ready;
const [status] = provider.servers;
if (status.status !== "connected") throw new Error(status.error);
for (const { name, arguments: input } of callsFor(getTools(status, provider.skills[0]))) {
  console.log(name, JSON.stringify(await provider.call("suite", name, input, callContext())));
}
await provider.close();

/** The tools that are offered, each with the schema that its method has. */
function getTools({ tools }, { methods }) {
  return tools.map(({ name, method }) => ({ name, inputSchema: methods.find((each) => each.name === method).input }));
}

function callsFor(tools) {
  return CALLS[scenario]?.(tools) ?? tools.map(({ name }) => ({ name, arguments: {} }));
}

function callContext() {
  return {
    caller: OWNER,
    runId: "conformance",
    callId: "1",
    signal: AbortSignal.timeout(30_000),
    log() {},
    settings: {},
    progress() {},
    client: { can: () => true, ask: async (request) => ANSWERS[request] },
  };
}

/** The suite's page asks nobody: it redirects at once. */
async function authorize({ url }) {
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location"));
}
