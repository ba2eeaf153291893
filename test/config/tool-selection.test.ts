import { expect, test } from "vitest";

import { normalizeEntry, toServerConfig } from "../../src/config/index.ts";

const parse = (entry: Readonly<Record<string, unknown>>): ReturnType<typeof toServerConfig> =>
  toServerConfig("x", { command: "c", ...entry }, { cwd: "/project", env: { ONE: "read" } });

test.each([
  [{ enabledTools: ["read"] }, ["read"]],
  [{ enabled_tools: ["read", "list"] }, ["read", "list"]],
  [{ includeTools: ["read_*"] }, ["read_*"]],
  [{ includeTools: [] }, []],
  [{ enabledTools: "read" }, ["read"]],
  [{ enabledTools: ["${ONE}"] }, ["read"]],
  [{ tools: ["*"] }, ["*"]],
  [{ tools: { search: { approval_mode: "approve" } } }, undefined],
  [{ enabledTools: null }, undefined],
  [{ alwaysAllow: ["read"], autoApprove: ["read"], alwaysAllowTools: ["read"], trust: true }, undefined],
  [{ tool_timeout_sec: 5, supports_parallel_tool_calls: true, readOnly: false }, undefined],
])("offers of a server with %j the tools %j [M1]", (entry, enabledTools) => {
  const config = parse(entry);
  expect(config.enabledTools).toEqual(enabledTools);
  expect(config.obstacle).toBeUndefined();
});

const ADVICE = 'write "enabledTools": ["…"] to offer only some tools, or "disabledTools": ["…"] to leave some out';

test.each([
  [{ allowedTools: ["read"] }, '"allowedTools" restricts what it offers and is not known here'],
  [{ toolFilter: { mode: "allow" } }, '"toolFilter" restricts what it offers and is not known here'],
  [{ denied_tools: ["rm"] }, '"denied_tools" restricts what it offers and is not known here'],
  [{ deny: ["rm"] }, '"deny" restricts what it offers and is not known here'],
  [{ readOnly: true }, '"readOnly" restricts what it offers and is not known here'],
  [{ options: { toolFilter: {} } }, '"options.toolFilter" restricts what it offers and is not known here'],
  [{ enabledTools: { read: true } }, '"enabledTools" must be a list of names of tools'],
  [{ enabledTools: [7] }, '"enabledTools" must be a list of names of tools'],
  [{ disabledTools: true }, '"disabledTools" must be a list of names of tools'],
  [{ excludeTools: "rm, mv" }, '"excludeTools" must be a list of names of tools'],
  [{ tools: { rm: { enabled: false } } }, '"tools" must be a list of names of tools'],
])("holds back a server with %j [M1]", (entry, wrong) => {
  expect(parse(entry).obstacle).toBe(`MCP server 'x' is held back, as ${wrong}; ${ADVICE}`);
});

test("holds back a server with two lists of tools to offer [M1]", () => {
  expect(parse({ enabledTools: ["a"], includeTools: ["b"] }).obstacle).toBe(
    `MCP server 'x' is held back, as it has both "enabledTools" and "includeTools"; write "enabledTools" alone`,
  );
});

test.each([
  [{ enabled_tools: ["a"], disabled_tools: ["b"] }, "codex", { enabledTools: ["a"], disabledTools: ["b"] }],
  [{ includeTools: ["a"] }, "gemini", { enabledTools: ["a"] }],
  [{ includeTools: [] }, "gemini", { enabledTools: [] }],
  [{ alwaysAllow: ["a"] }, "cursor", {}],
])("converts the lists of tools %j of %s [M10]", (lists, client, ours) => {
  expect(normalizeEntry({ command: "x", ...lists }, client)).toEqual({ command: "x", args: [], ...ours });
});
