import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, onTestFinished } from "vitest";

import { createKeySource, createServerLogins, type ServerLogins } from "../../../src/accounts/index.ts";
import { toServerConfig } from "../../../src/config/index.ts";
import { OWNER } from "../../../src/model/caller.ts";
import type { CallContext } from "../../../src/model/skill.ts";
import {
  connectServers,
  type McpProviderOptions,
  type McpProvider,
  type ServerConfig,
} from "../../../src/providers/mcp/index.ts";
import { createStore } from "../../../src/store/index.ts";
import { refuseAccount } from "../../../src/shared/http/account-response.ts";

/** The folder of the checkout, where tests run. */
export const ROOT = process.cwd();

const FIXTURE = "test/fixtures/mcp/server.js";

/** The fixture server, misbehaving in the named ways. */
export function fixture(ways: readonly string[] = [], entry: Readonly<Record<string, unknown>> = {}): ServerConfig {
  return toServerConfig("fixture", { command: process.execPath, args: [FIXTURE, ...ways], ...entry }, { cwd: ROOT });
}

/** A server from node_modules. */
export function installed(name: string, args: readonly string[] = []): ServerConfig {
  const main = `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  return toServerConfig(name, { command: process.execPath, args: [main, ...args] }, { cwd: ROOT });
}

/** The logins in a folder, with a key of the tests. */
export function openLogins(folder: string): ServerLogins {
  const variable = "0123456789abcdef".repeat(4);
  const keys = createKeySource({ variable, folder, store: "folder", lockMs: 5_000, onSecrets: () => {} });
  return createServerLogins({ folder }, keys);
}

/** Connected, or failed; closed when the test is over. */
export async function connected(
  servers: readonly ServerConfig[],
  options: Partial<McpProviderOptions> = {},
): Promise<McpProvider> {
  const { stateDir } = options;
  const tokens = stateDir === undefined ? undefined : openLogins(stateDir).tokens;
  const provider = connectServers(servers, { env: process.env, ...(tokens && { tokens }), ...options });
  onTestFinished(() => provider.close());
  await provider.ready;
  return provider;
}

/** Returns what connects a server once, for the tests of a file that can have the same one. */
export function shareConnected(
  server: ServerConfig,
  options: Partial<McpProviderOptions> = {},
): () => Promise<McpProvider> {
  let provider: McpProvider | undefined;
  afterAll(() => provider?.close());
  return async () => {
    provider ??= connectServers([server], { env: process.env, ...options });
    await provider.ready;
    return provider;
  };
}

/** Calls a tool of the fixture. */
export function call(
  provider: McpProvider,
  tool: string,
  input: Readonly<Record<string, unknown>> = {},
  context: Partial<CallContext> = {},
): Promise<unknown> {
  return provider.call("fixture", tool, input, createContext(context));
}

export function createContext(context: Partial<CallContext> = {}): CallContext {
  return {
    caller: OWNER,
    runId: "run",
    callId: "1",
    signal: new AbortController().signal,
    log: () => {},
    settings: {},
    secrets: {},
    store: createStore().space("test"),
    progress: () => {},
    account: refuseAccount,
    ...context,
  };
}

/** Settles as soon as `condition` holds; asked again whenever the provider changes. */
export function until(provider: McpProvider, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (condition()) resolve();
    };
    provider.onChange(look);
    look();
  });
}

/** Settles when a process is gone; of a killed one, the system may take a moment to say so. */
export async function ended(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // there is no such process
  }
}

/** Removed when the test is over. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "skillgate-mcp-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
