/** The MCP clients that Skillgate knows; `src/config/servers/clients.ts` says where each keeps its servers. */
export const MCP_CLIENT_IDS = [
  "claude-code",
  "claude-desktop",
  "cursor",
  "vscode",
  "codex",
  "opencode",
  "windsurf",
  "gemini",
  "zed",
  "copilot",
  "qwen",
  "cline",
  "continue",
  "kilo",
  "amp",
] as const;
