import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";

import {
  approveServers,
  changeServers,
  type Config,
  type ConfigOptions,
  loadConfig,
  type StartRequest,
} from "../../src/config/index.ts";

let cwd: string;
let options: ConfigOptions;
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "skillgate-approvals-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cwd = join(folder, "project");
  mkdirSync(cwd);
  options = { cwd, home: join(folder, "home"), env: {} };
});

function write(name: string, servers: object): void {
  const path = name.startsWith("~/") ? join(options.home ?? "", name.slice(2)) : join(cwd, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
}

const obstacles = ({ servers }: Pick<Config, "servers">): unknown =>
  servers.map(({ name, obstacle }) => [name, obstacle]);
const approveAll = async (): Promise<void> => approveServers(options, (await loadConfig(options)).declared);

const NEW = "MCP server 'a' is not approved yet; look at it in .mcp.json, and allow it with: skillgate mcp approve a";
const CHANGED =
  "MCP server 'a' has changed since it was approved; look at it in .mcp.json, and allow it with: skillgate mcp approve a";

test("M8: a server of the project is not started before it is approved, and again not when it has changed", async () => {
  write(".mcp.json", { a: { command: "x" } });
  expect(obstacles(await loadConfig(options))).toEqual([["a", NEW]]);
  await approveAll();
  expect(obstacles(await loadConfig(options))).toEqual([["a", undefined]]);
  write(".mcp.json", { a: { command: "x", args: ["--evil"] } });
  expect(obstacles(await loadConfig(options))).toEqual([["a", CHANGED]]);
  write(".mcp.json", { a: { command: "x" } });
  expect(obstacles(await loadConfig(options))).toEqual([["a", undefined]]);
});

test("M8: an approval is for one file: the same server in another folder is asked about, too", async () => {
  write(".mcp.json", { a: { command: "x" } });
  await approveAll();
  const other = { ...options, cwd: join(cwd, "sub") };
  write("sub/.mcp.json", { a: { command: "x" } });
  expect(obstacles(await loadConfig(other))).toEqual([["a", NEW]]);
  symlinkSync(cwd, join(cwd, "link"));
  expect(obstacles(await loadConfig({ ...options, cwd: join(cwd, "link") }))).toEqual([["a", undefined]]);
});

test("M8: the project's .env cannot change what was approved", async () => {
  write(".mcp.json", { a: { command: "${TOOL}", env: { KEY: "${KEY}" } } });
  writeFileSync(join(cwd, ".env"), "TOOL=good\nKEY=1\n");
  await approveAll();
  writeFileSync(join(cwd, ".env"), "TOOL=good\nKEY=2\n");
  expect(obstacles(await loadConfig(options))).toEqual([["a", undefined]]);
  writeFileSync(join(cwd, ".env"), "TOOL=evil\nKEY=2\n");
  expect(obstacles(await loadConfig(options))).toEqual([["a", CHANGED]]);
  expect(obstacles(await loadConfig({ ...options, env: { TOOL: "mine" } }))).toEqual([["a", CHANGED]]);
});

test("M8: the project's .env can neither trust its folder nor move the approvals", async () => {
  write(".mcp.json", { a: { command: "x" } });
  writeFileSync(join(cwd, ".env"), `SKILLGATE_TRUSTED_FOLDERS=${cwd}\nXDG_STATE_HOME=${cwd}\n`);
  mkdirSync(join(cwd, "skillgate"));
  expect(obstacles(await loadConfig(options))).toEqual([["a", NEW]]);
});

test("M8: files of the user, files that were named, and folders that are trusted need no approval", async () => {
  write("~/.config/mcp/mcp.json", { user: { command: "x" } });
  write("named.json", { named: { command: "x" } });
  expect(obstacles(await loadConfig({ ...options, mcpConfigFile: "named.json" }))).toEqual([
    ["named", undefined],
    ["user", undefined],
  ]);
  write(".mcp.json", { a: { command: "x" } });
  for (const folder of [cwd, dirname(cwd)])
    expect(
      obstacles(await loadConfig({ ...options, env: { SKILLGATE_TRUSTED_FOLDERS: `/nowhere:${folder}` } })),
    ).toEqual([
      ["a", undefined],
      ["user", undefined],
    ]);
  const similar = cwd.slice(0, -1);
  expect(obstacles(await loadConfig({ ...options, env: { SKILLGATE_TRUSTED_FOLDERS: similar } }))).toEqual([
    ["a", NEW],
    ["user", undefined],
  ]);
});

test("M8: this checkout trusts its own file", async () => {
  const { declared } = await loadConfig({ ...options, cwd: process.cwd() });
  expect(declared.map(({ name, file, approval }) => [name, file.label, approval])).toContainEqual([
    "filesystem",
    ".mcp.json",
    "approved",
  ]);
});

test("M8: a person is asked once for each file, sees all that will be started, and what was allowed is remembered", async () => {
  write(".mcp.json", {
    a: {
      command: "npx",
      args: ["-y", "p", "--token=$(evil | sh)"],
      env: { API_KEY: "abc123", TOKEN: "--require x.js", P: 1 },
    },
    off: { command: "x", disabled: true },
  });
  write("mcp.json", { b: { url: "https://b.example/mcp", headers: { A: "Bearer ${TOKEN}", B: "abc" } } });
  const asked: StartRequest[] = [];
  const person = (answer: boolean) => ({
    input: async () => undefined,
    mayStart: async (request: StartRequest) => {
      asked.push(request);
      return answer && request.file === ".mcp.json";
    },
  });
  const refused = await (await loadConfig(options)).ask(person(false));
  expect(refused.filter(({ obstacle }) => obstacle === undefined)).toEqual([]);
  expect(asked).toEqual([
    {
      file: "mcp.json",
      servers: [{ name: "b", starts: "https://b.example/mcp with A: Bearer ${TOKEN} with B: ***", isChanged: false }],
    },
    {
      file: ".mcp.json",
      servers: [
        {
          name: "a",
          starts: "API_KEY=*** TOKEN='--require x.js' P=1 npx -y p '--token=$(evil | sh)'",
          isChanged: false,
        },
      ],
    },
  ]);
  const allowed = await (await loadConfig(options)).ask(person(true));
  expect(allowed.filter(({ obstacle }) => obstacle === undefined).map(({ name }) => name)).toEqual(["a"]);
  asked.length = 0;
  await (await loadConfig(options)).ask(person(true));
  expect(asked.map(({ file }) => file)).toEqual(["mcp.json"]);
});

test("M8: approvals are kept in a file of the user's alone, and one that is broken approves of nothing", async () => {
  write(".mcp.json", { a: { command: "x" } });
  await approveAll();
  const file = join(options.home ?? "", ".local", "state", "skillgate", "approved-servers.json");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "{ broken");
  expect(obstacles(await loadConfig(options))).toEqual([["a", NEW]]);
  await approveAll();
  expect(obstacles(await loadConfig(options))).toEqual([["a", undefined]]);
});

test("M10: a change keeps the mode of the file and the link to it, and leaves nothing beside it", async () => {
  write("real/mcp.json", { a: { command: "x" } });
  const [real, link] = [join(cwd, "real", "mcp.json"), join(cwd, "link.json")];
  chmodSync(real, 0o640);
  symlinkSync(real, link);
  const place = { path: link, label: "link.json", isPrivate: false };
  await changeServers(place, [{ path: ["mcpServers", "b"], value: { command: "y" } }]);
  expect(JSON.parse(readFileSync(real, "utf8"))).toEqual({ mcpServers: { a: { command: "x" }, b: { command: "y" } } });
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(readdirSync(cwd).toSorted()).toEqual(["link.json", "real"]);
  expect(readdirSync(join(cwd, "real"))).toEqual(["mcp.json"]);
  expect(readFileSync(link, "utf8")).toBe(readFileSync(real, "utf8"));
});

test("M10: changes that are made at once are all made", async () => {
  const place = { path: join(cwd, ".mcp.json"), label: ".mcp.json", isPrivate: false };
  const names = [...Array(20).keys()].map((index) => `s${index}`);
  await Promise.all(
    names.map((name) => changeServers(place, [{ path: ["mcpServers", name], value: { command: "x" } }])),
  );
  const { mcpServers } = JSON.parse(readFileSync(place.path, "utf8"));
  expect(Object.keys(mcpServers).toSorted()).toEqual(names.toSorted());
});

test("M10: a file that cannot be parsed stays as it is", async () => {
  const place = { path: join(cwd, ".mcp.json"), label: ".mcp.json", isPrivate: false };
  writeFileSync(place.path, '{ "mcpServers": { "a": ');
  await expect(changeServers(place, [{ path: ["mcpServers", "b"], value: {} }])).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: "Cannot read the configuration: .mcp.json line 1, column 24: value expected (CONFIG_INVALID)",
  });
  expect(readFileSync(place.path, "utf8")).toBe('{ "mcpServers": { "a": ');
  expect(readdirSync(cwd)).toEqual([".mcp.json"]);
});
