import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";

import { expect, test } from "vitest";

import { toServerConfig } from "../../../src/config/index.ts";
import type { ServerConfig } from "../../../src/providers/mcp/index.ts";
import { call, connected, ROOT, temporaryFolder } from "../../support/mcp/servers.ts";

/** A folder with an `npx` that writes down how it is called, and a package that it would find in its own store. */
async function fakeNpx() {
  const folder = await temporaryFolder();
  const modules = join(folder, "store", "node_modules");
  const server = join(modules, "@acme", "fixture-server");
  await mkdir(server, { recursive: true });
  await mkdir(join(modules, ".bin"), { recursive: true });
  await writeFile(join(server, "package.json"), JSON.stringify({ bin: { "fixture-server": "./main.js" } }));
  const fixture = JSON.stringify(join(ROOT, "test/fixtures/mcp/server.js"));
  await writeFile(join(server, "main.js"), `#!/usr/bin/env node\nimport(${fixture});\n`);
  const log = join(folder, "calls");
  const npx = join(folder, "npx");
  const script = `#!/bin/sh\necho "$@" >> "${log}"\nexport PATH="${join(modules, ".bin")}${delimiter}$PATH"\nwhile [ "$1" != "-c" ]; do shift; done\neval "$2"\n`;
  await writeFile(npx, script, { mode: 0o755 });
  await symlink(process.execPath, join(folder, "node"));
  const env = { PATH: `${folder}${delimiter}${process.env["PATH"]}` };
  return { npx, env, calls: async () => (await readFile(log, "utf8")).trim().split("\n") };
}

test("resolves a program of npx once, then starts it directly [M3]", { tags: "rest" }, async () => {
  const { npx, env, calls } = await fakeNpx();
  const stateDir = await temporaryFolder();
  const server = toServerConfig("fixture", { command: npx, args: ["-y", "@acme/fixture-server@1.2.3", "modern"], env });
  for (let start = 0; start < 2; start++) {
    const provider = await connected([server], { stateDir });
    expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2026-07-28" });
    expect(await call(provider, "echo", { message: "hi" })).toBe("hi");
    await provider.close();
  }
  expect(await calls()).toEqual(['--yes --package=@acme/fixture-server@1.2.3 -c echo "$PATH"']);
});

test("finds a program of a package by its name [M3]", async () => {
  const { npx, env } = await fakeNpx();
  const args = ["--package=@acme/fixture-server", "fixture-server", "modern"];
  const provider = await connected([toServerConfig("fixture", { command: npx, args, env })]);
  expect(provider.servers[0]).toMatchObject({ status: "connected", protocolVersion: "2026-07-28" });
});

test.each([[["--registry", "x", "@acme/fixture-server"]], [["-y", "./local"]], [["-y", "@acme/unknown"]]])(
  "leaves unknown options to npx: %j [M3]",
  { tags: "rest" },
  async (args) => {
    const { npx, env, calls } = await fakeNpx();
    await connected([toServerConfig("fixture", { command: npx, args, env })], { connectTimeoutMs: 5_000 });
    expect((await calls()).at(-1)).toBe(args.join(" "));
  },
);

test("runs npx for the user's own server in a folder of Skillgate, not in the project [P12]", async () => {
  const { npx, env, calls } = await fakeNpx();
  const [stateDir, cwd] = [await temporaryFolder(), await temporaryFolder()];
  const where = join(stateDir, "where");
  await writeFile(npx, (await readFile(npx, "utf8")).replace("\n", `\npwd >> "${where}"\n`), { mode: 0o755 });
  for (const args of [
    ["-y", "@acme/fixture-server", "modern"],
    ["--registry", "x", "@acme/fixture-server"],
  ]) {
    const config = toServerConfig("fixture", { command: npx, args, env }, { cwd });
    const provider = await connected([{ ...config, isOfUser: true } as ServerConfig], {
      stateDir,
      connectTimeoutMs: 5_000,
    });
    await provider.close();
  }
  const folder = join(stateDir, "npx");
  expect(new Set((await readFile(where, "utf8")).trim().split("\n"))).toEqual(new Set([folder]));
  expect(JSON.parse(await readFile(join(folder, "package.json"), "utf8"))).toEqual({ private: true });
  expect((await calls()).at(-1)).toBe("--registry x @acme/fixture-server");
});
