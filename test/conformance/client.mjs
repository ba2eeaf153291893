// What the conformance suite starts, once for each scenario: connects to the server at the address in the last argument,
// and does there what the scenario named in the environment wants to see.

import { createRuntime } from "../../dist/src/index.js";

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
  "auth/cross-app-access-complete-flow": identityProvider(),
  "auth/enterprise-managed-authorization": identityProvider(),
  "auth/wif-jwt-bearer": { grant: "jwt_bearer", clientId: context.client_id, assertion: context.valid_jwt },
};

/** What is called in place of every tool with the arguments that it requires. */
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

/** Arguments by the type that a schema requires; others are a text. */
const VALUES = { number: 1, integer: 1, boolean: true, array: [], object: {} };

/** Whoever is asked for something agrees, and leaves every field to its default. */
const ANSWERS = {
  "elicitation/create": { action: "accept", content: {} },
  "sampling/createMessage": { role: "assistant", model: "none", content: { type: "text", text: "yes" } },
  "roots/list": { roots: [] },
};

const runtime = await createRuntime({
  skillsDir: false,
  mcpServers: { suite: { url, oauth: OAUTH[scenario] ?? {} } },
  mcp: { authorize, client: { can: () => true, ask: async (request) => ANSWERS[request] } },
});
await runtime.ready;
const [status] = runtime.servers;
if (status.status !== "connected") throw new Error(status.error);
for (const { name, arguments: input } of callsFor(getTools(status))) {
  const { method } = status.tools.find((tool) => tool.name === name);
  const outcome = await runtime.run(`await device.SuiteMCP[${JSON.stringify(method)}](${JSON.stringify(input)})`);
  console.log(name, outcome.text);
}
await runtime.close();

/** The tools that are offered, each with the schema that its method has. */
function getTools({ tools }) {
  const { methods } = runtime.catalog;
  return tools.map(({ name, method }) => ({
    name,
    inputSchema: methods.find(({ path }) => path === `SuiteMCP.${method}`).input,
  }));
}

function callsFor(tools) {
  return CALLS[scenario]?.(tools) ?? tools.map(({ name, inputSchema }) => ({ name, arguments: fillIn(inputSchema) }));
}

/** A value for each property that a schema requires. */
function fillIn({ properties = {}, required = [] }) {
  return Object.fromEntries(required.map((name) => [name, VALUES[properties[name]?.type] ?? "example"]));
}

/** The company of the suite has logged the user in already; the metadata of its provider is not complete. */
function identityProvider() {
  const { client_id, client_secret, idp_issuer, idp_token_endpoint, idp_client_id, idp_id_token } = context;
  const identityProvider = {
    issuer: idp_issuer,
    tokenEndpoint: idp_token_endpoint,
    clientId: idp_client_id,
    idToken: idp_id_token,
  };
  return { clientId: client_id, clientSecret: client_secret, identityProvider };
}

/** The suite's page asks nobody: it redirects at once. */
async function authorize({ url }) {
  const { headers } = await fetch(url, { redirect: "manual" });
  return new URL(headers.get("location"));
}
