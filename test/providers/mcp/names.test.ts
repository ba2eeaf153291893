// @module-tag rest

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

import { createRuntime } from "../../../src/index.ts";
import { environment, FILESYSTEM_SERVER, project } from "../../surfaces/cli/command.ts";

const files = { command: process.execPath, args: [FILESYSTEM_SERVER, "."] };

test("gives a skill name of two servers to the first, and reports the second with both names [N3]", async () => {
  await using runtime = await createRuntime({ skillsDir: false, mcpServers: { "my-files": files, my_files: files } });
  await runtime.ready;
  expect(runtime.servers.map(({ name, status }) => [name, status])).toEqual([
    ["my-files", "connected"],
    ["my_files", "error"],
  ]);
  expect(runtime.problems).toEqual([
    {
      source: "my_files",
      error: "MCP servers 'my-files' and 'my_files' both become MyFilesMCP, set skillName for one of them",
    },
  ]);
  expect(runtime.catalog.skills.map(({ name, server }) => [name, server])).toEqual([["MyFilesMCP", "my-files"]]);
});

test("applies skillName, and keeps methods with one name in two servers apart [N3]", async () => {
  const mcpServers = { "my-files": files, my_files: { ...files, skillName: "OtherFiles" } };
  await using runtime = await createRuntime({ skillsDir: false, mcpServers });
  await runtime.ready;
  expect(runtime.problems).toEqual([]);
  const both =
    "[device.MyFilesMCP.list_allowed_directories().content, device.OtherFiles.list_allowed_directories().content]";
  expect(await runtime.run(both)).toMatchObject({
    kind: "completed",
    value: Array.from({ length: 2 }, () => expect.stringContaining(process.cwd()) as string),
  });
});

test("a server that may not start does not reserve its skill name [N3]", async () => {
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: { "my-files": files } }) });
  const env = environment(cwd, { SKILLGATE_TRUSTED_FOLDERS: "" });
  const usersOwn = join(dirname(cwd), "home", ".config", "mcp", "mcp.json");
  mkdirSync(dirname(usersOwn), { recursive: true });
  writeFileSync(usersOwn, JSON.stringify({ mcpServers: { my_files: files } }));
  await using runtime = await createRuntime({ trust: "recorded", skillsDir: false, discover: true, cwd, env });
  await runtime.ready;
  expect(runtime.servers.map(({ name, status }) => [name, status])).toEqual([
    ["my_files", "connected"],
    ["my-files", "error"],
  ]);
});
