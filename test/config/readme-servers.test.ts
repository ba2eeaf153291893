import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { type Config, loadConfig } from "../../src/config/index.ts";
import { toSkillName } from "../../src/shared/skill-names.ts";

/** The MCP configurations that README.md shows, in their order. */
const SHOWN = [...readFileSync("README.md", "utf8").matchAll(/```json\n([^]*?)```/g)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("mcpServers"));

async function load(text: string, env: Readonly<Record<string, string>>): Promise<Config> {
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-readme-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  writeFileSync(join(cwd, "mcp.json"), text);
  return loadConfig({ cwd, home: join(cwd, "home"), env, mcpConfigFile: "mcp.json" });
}

test("B5: the README's servers for web search, documentation and databases can be used as they are shown", async () => {
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

test("B5: without its key, the server for web search says which variable is missing; the others are there", async () => {
  const { servers } = await load(SHOWN[1] ?? "", {});
  expect(servers.map(({ name, obstacle }) => [name, obstacle])).toEqual([
    ["brave-search", "missing environment variable BRAVE_API_KEY"],
    ["context7", undefined],
    ["database", undefined],
  ]);
});

test("M1: every configuration that the README shows is read without a word of complaint", async () => {
  expect(SHOWN.length).toBeGreaterThanOrEqual(2);
  for (const text of SHOWN) expect((await load(text, {})).warnings).toEqual([]);
});
