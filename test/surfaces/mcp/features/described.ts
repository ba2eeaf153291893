import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import type { Runtime } from "../../../../src/index.ts";
import type { RuntimeOptions } from "../../../../src/runtime/options.ts";
import type { HttpServerSettings } from "../../../../src/surfaces/http/index.ts";
import { folder, serve } from "../../serving.ts";

/** What a server is: see `test/fixtures/mcp/described-server.js`. */
export type Described = Readonly<Record<string, unknown>>;

/** Serves MCP servers that are what they are described to be; `describe` changes one of them. */
export async function serveDescribed(
  servers: Readonly<Record<string, Described>>,
  settings: Partial<HttpServerSettings> = {},
  options: RuntimeOptions = {},
  isToken?: (token: string) => boolean,
): Promise<{
  readonly url: string;
  readonly runtime: Runtime;
  readonly describe: (name: string, description: Described) => void;
}> {
  const root = folder();
  mkdirSync(root, { recursive: true });
  const describe = (name: string, description: Described): void =>
    writeFileSync(join(root, `${name}.json`), JSON.stringify(description));
  for (const [name, description] of Object.entries(servers)) describe(name, description);
  const mcpServers = Object.fromEntries(
    Object.keys(servers).map((name) => [
      name,
      {
        command: process.execPath,
        args: [resolve("test/fixtures/mcp/described-server.js"), join(root, `${name}.json`)],
      },
    ]),
  );
  const { url, runtime } = await serve(settings, { skills: [], mcpServers, ...options }, isToken);
  await runtime.ready;
  return { url: `${url}/mcp`, runtime, describe };
}
