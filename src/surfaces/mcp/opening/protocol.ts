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
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The capabilities of the server for clients of versions before 2026-07-28. */
export const LEGACY_CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  completions: {},
  logging: {},
  extensions: {},
};

export const MODERN_CAPABILITIES = {
  ...LEGACY_CAPABILITIES,
  extensions: { [TASKS_EXTENSION]: {} },
};

/** Extensions that depend on the servers behind, by their names, with their settings. */
export type Extensions = Readonly<Record<string, Record<string, boolean>>>;

/** Returns the capabilities with further extensions. */
export function withExtensions<Capabilities extends { readonly extensions: object }>(
  capabilities: Capabilities,
  extensions: Extensions = {},
): Capabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, ...extensions } };
}

/** The members of `_meta` that each request of the 2026 protocol has. */
export const PROTOCOL_VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
export const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";
export const CLIENT_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** The member of `_meta` that each result of the 2026 protocol has. */
export const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
