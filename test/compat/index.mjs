// `npm run compat`: installs servers and clients into .cache/compat, measures each with Skillgate, and writes
// docs/compatibility.md.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { CLIENT_COLUMNS, measureClients } from "./clients.mjs";
import { measureServers, SERVER_COLUMNS } from "./servers.mjs";
import { toTable } from "./table.mjs";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, ".cache/compat");

const say = (row) => console.log(row.join(" | "));
const clients = await measureClients(join(FOLDER, "clients"), say);
const servers = await measureServers(join(FOLDER, "servers"), say);
const page = join(ROOT, "docs/compatibility.md");
writeFileSync(page, toPage(servers, clients));
spawnSync("npx", ["oxfmt", page], { cwd: ROOT, stdio: "inherit" });
// A client that hangs may keep the process alive.
process.exit();

function toPage(servers, clients) {
  return `# Compatibility

MCP servers and clients from npm, each measured with Skillgate by \`npm run compat\`, which writes this page. The packages are installed
without their install scripts. This page: Node ${process.version}, ${process.platform}, on ${new Date().toISOString().slice(0, 10)}.

## Servers

Skillgate starts each server, lists its tools, calls one from a program, and ends it.

- **tools**: the tools that are served, of those that the server lists.
- **protocol**: the version of MCP that both speak.
- **declarations**: whether the TypeScript of all its methods compiles in strict mode.
- **one call**: the tool, and whether it answers. An error is the server's own. Servers of services get no account, and the machine that
  measures may have no network.
- **leftovers**: processes of the server after its end.

${toTable(SERVER_COLUMNS, servers)}

## Clients

Each client starts \`skillgate serve --stdio\`, unless its row says otherwise.

- **connects**: it connects and lists the tools.
- **program**: \`run_code\` returns the value of a program.
- **progress**: it receives the progress of a method that a program calls.
- **cancel**: the method is cancelled when the client cancels the call.
- "Not offered" means that the interface of the client has no such function. A client that sends no cancellation has "no".

${toTable(CLIENT_COLUMNS, clients)}

## Specifications

Beside the versions of the protocol, which [MCP servers](mcp-servers.md#protocol-versions) names:

| specification                        | version                  | used by                       |
| ------------------------------------ | ------------------------ | ----------------------------- |
| \`server.json\` of the MCP registry    | 2025-09-29 to 2025-12-11 | \`mcp add\`, \`mcp export\`       |
| manifest of MCP bundles, \`.mcpb\`     | 0.1 to 0.4               | \`mcp add\`                     |
| server cards (SEP-2127)              | v1, 2026-07-24           | \`server.cards\`                |
| skills over MCP (SEP-2640)           | final, 2026-09-13        | servers, \`serve\`              |
| enterprise-managed authorization (SEP-990) | as in suite 0.2.0-alpha.12 | \`oauth\` of servers |
| workload identity federation (SEP-1933) | as in suite 0.2.0-alpha.12 | \`oauth\` of servers |
| DPoP (RFC 9449, SEP-1932) | as in suite 0.2.0-alpha.12 | \`oauth\` of servers |
`;
}
