import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Config, loadConfig } from "../../src/config/index.ts";
import { toSkillName } from "../../src/shared/names/skill-names.ts";

/** The MCP configurations that README.md and docs/mcp-servers.md show, in their order. */
const SHOWN = ["README.md", "docs/mcp-servers.md"]
  .flatMap((page) => [...readFileSync(page, "utf8").matchAll(/```json\n([^]*?)```/g)])
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("mcpServers"));

async function load(text: string, env: Readonly<Record<string, string>>): Promise<Config> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-readme-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, "mcp.json"), text);
  return loadConfig({ cwd, home: join(cwd, "home"), env, mcpConfigFile: "mcp.json" });
}

test("reads the servers for web search, documentation and databases in docs/mcp-servers.md [B5]", async () => {
  const [, services = ""] = SHOWN;
  const { servers, warnings } = await load(services, { BRAVE_API_KEY: "key" });
  expect(warnings).toEqual([]);
  expect(servers.map(({ name }) => toSkillName(name))).toEqual(["BraveSearchMCP", "Context7MCP", "DatabaseMCP"]);
  expect(servers).toMatchObject([
    {
      transport: "stdio",
      command: "npx",
      args: ["-y", "@brave/brave-search-mcp-server"],
      env: { BRAVE_API_KEY: "key" },
    },
    { transport: "http", url: "https://mcp.context7.com/mcp" },
    { transport: "stdio", command: "npx", args: ["-y", "@bytebase/dbhub"], env: { DSN: "sqlite:///data.db" } },
  ]);
  expect(servers.filter(({ obstacle }) => obstacle !== undefined)).toEqual([]);
});

test("reports the missing variable of the web search server, and starts the others [B5]", async () => {
  const { servers } = await load(SHOWN[1] ?? "", {});
  expect(servers.map(({ name, obstacle }) => [name, obstacle])).toEqual([
    ["brave-search", "missing environment variable BRAVE_API_KEY"],
    ["context7", undefined],
    ["database", undefined],
  ]);
});

test("reads every configuration in the documentation without a warning [M1]", async () => {
  expect(SHOWN.length).toBeGreaterThanOrEqual(2);
  for (const text of SHOWN) expect((await load(text, {})).warnings).toEqual([]);
});
