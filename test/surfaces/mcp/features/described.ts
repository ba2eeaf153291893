import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

import { afterAll } from "vitest";

import type { Runtime } from "../../../../src/index.ts";
import type { RuntimeOptions } from "../../../../src/runtime/options.ts";
import type { HttpServerSettings } from "../../../../src/surfaces/http/index.ts";
import { folder, openRuntime, serve, shareRuntime } from "../../serving.ts";

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
  const cwd = folder();
  const { mcpServers, describe } = writeServers(cwd, servers);
  const { url, runtime } = await serve(settings, { cwd, skills: [], mcpServers, ...options }, isToken);
  await runtime.ready;
  return { url: `${url}/mcp`, runtime, describe };
}

/** Starts described servers once for the tests of a file that change none of them; see `shareRuntime`. */
export function shareDescribed(
  servers: Readonly<Record<string, Described>>,
): (settings?: Partial<HttpServerSettings>) => Promise<{ readonly url: string; readonly runtime: Runtime }> {
  let root: string | undefined;
  afterAll(() => {
    if (root !== undefined) rmSync(root, { recursive: true, force: true });
  });
  const serveShared = shareRuntime(async () => {
    root = mkdtempSync(join(tmpdir(), "skillgate-described-"));
    const runtime = await openRuntime({ skills: [], mcpServers: writeServers(root, servers).mcpServers });
    await runtime.ready;
    return runtime;
  });
  return async (settings) => {
    const { url, runtime } = await serveShared(settings);
    return { url: `${url}/mcp`, runtime };
  };
}

function writeServers(root: string, servers: Readonly<Record<string, Described>>) {
  const describe = (name: string, description: Described): void =>
    writeFileSync(join(root, `${name}.json`), JSON.stringify(description));
  for (const [name, description] of Object.entries(servers)) describe(name, description);
  const program = resolve("test/fixtures/mcp/described-server.js");
  const mcpServers = Object.fromEntries(
    Object.keys(servers).map((name) => [
      name,
      { command: process.execPath, args: [program, join(root, `${name}.json`)] },
    ]),
  );
  return { mcpServers, describe };
}
