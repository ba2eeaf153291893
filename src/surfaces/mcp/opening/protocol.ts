import { APPS_EXTENSION } from "../../../model/client-requests.ts";
/** The versions before 2026-07-28, the newest first; the SDK has the same. */
export const LEGACY_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

export const MODERN_VERSION = "2026-07-28";

/** The MCP extension by which a tool call is answered with a task, which its client polls. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** The identifier of the extension with which servers offer skills: instructions for models, with files. */
const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The capabilities of the server for clients of versions before 2026-07-28. */
export const LEGACY_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  extensions: { [SKILLS_EXTENSION]: {} },
};

export const MODERN_CAPABILITIES = {
  ...LEGACY_CAPABILITIES,
  extensions: { ...LEGACY_CAPABILITIES.extensions, [TASKS_EXTENSION]: {} },
};

/** Returns the capabilities with the extension of MCP Apps, if servers have some. */
export function withApps<Capabilities extends { readonly extensions: object }>(
  capabilities: Capabilities,
  hasApps: boolean,
): Capabilities {
  if (!hasApps) return capabilities;
  return { ...capabilities, extensions: { ...capabilities.extensions, [APPS_EXTENSION]: {} } };
}

/** The members of `_meta` that each request of the 2026 protocol has. */
export const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";
export const CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** The member of `_meta` that each result of the 2026 protocol has. */
export const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
