import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { listArchive } from "../../../../src/surfaces/cli/mcp/package/zip-archive.ts";
import { zip, type ZipFile } from "./zip.ts";
import { type Ended, type Place, project, skillgate } from "../command.ts";

const mcp = (args: readonly string[], place: Place): Promise<Ended> => skillgate(["mcp", ...args], place);

const readEntry = (cwd: string, name: string): unknown => {
  const { mcpServers } = JSON.parse(readFileSync(join(cwd, ".mcp.json"), "utf8")) as { mcpServers: object };
  return (mcpServers as Readonly<Record<string, unknown>>)[name];
};

const flagsOf = (...inputs: readonly string[]): readonly string[] => inputs.flatMap((each) => ["--input", each]);

const NPM = {
  registryType: "npm",
  identifier: "@ada/weather-mcp",
  version: "1.2.3",
  transport: { type: "stdio" },
  runtimeArguments: [{ type: "named", name: "--quiet", value: "true" }],
  packageArguments: [
    { type: "positional", valueHint: "city", isRequired: true, isRepeated: true },
    { type: "named", name: "--units", choices: ["metric", "imperial"], default: "metric" },
    { type: "named", name: "-l", value: "{level}", variables: { level: { default: "info" } } },
  ],
  environmentVariables: [
    { name: "WEATHER_KEY", description: "The key", isRequired: true, isSecret: true },
    { name: "WEATHER_AUTH", value: "Key {WEATHER_KEY}", variables: { WEATHER_KEY: { isSecret: true } } },
    { name: "WEATHER_DEBUG", format: "boolean" },
  ],
};

const REMOTE = {
  type: "streamable-http",
  url: "https://{region}.weather.example/mcp",
  variables: { region: { choices: ["eu", "us"], default: "eu" } },
  headers: [{ name: "Authorization", value: "Bearer {token}", variables: { token: { isSecret: true } } }],
};

const SERVER_JSON = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: "io.github.ada/weather",
  description: "Weather",
  version: "1.2.3",
  packages: [NPM],
  remotes: [REMOTE],
};

const PLAIN = { runtimeArguments: [], packageArguments: [], environmentVariables: [] };
const withPackage = (fields: object): object => ({
  ...SERVER_JSON,
  packages: [{ ...NPM, ...PLAIN, ...fields }],
  remotes: [],
});

const write = (cwd: string, value: unknown): void => writeFileSync(join(cwd, "server.json"), JSON.stringify(value));

test("adds the package of a registry entry, with its arguments, and the secret in .env [M10]", async () => {
  const cwd = project();
  write(cwd, SERVER_JSON);
  const inputs = flagsOf("WEATHER_KEY=k-123", "city=Athens", "city=Oslo");
  const added = await mcp(["add", "server.json", ...inputs, "--yes"], { cwd });
  expect(added).toMatchObject({
    exit: 0,
    stderr: expect.stringContaining("MCP_WEATHER_WEATHER_KEY is stored in .env") as string,
  });
  expect(readEntry(cwd, "weather")).toEqual({
    command: "npx",
    args: ["-y", "--quiet=true", "@ada/weather-mcp@1.2.3", "Athens", "Oslo", "--units=metric", "-l", "info"],
    env: { WEATHER_KEY: "${MCP_WEATHER_WEATHER_KEY}", WEATHER_AUTH: "Key ${MCP_WEATHER_WEATHER_KEY}" },
  });
  expect(readFileSync(join(cwd, ".env"), "utf8")).toContain("MCP_WEATHER_WEATHER_KEY=k-123");
});

test("adds the remote server of a registry entry under a name of its own [M10]", async () => {
  const cwd = project();
  write(cwd, { server: SERVER_JSON });
  const flags = ["--package", "remote", ...flagsOf("region=us", "token=t-1"), "--yes"];
  expect(await mcp(["add", "sky", "./server.json", ...flags], { cwd })).toMatchObject({ exit: 0 });
  expect(readEntry(cwd, "sky")).toEqual({
    type: "http",
    url: "https://us.weather.example/mcp",
    headers: { Authorization: "Bearer ${MCP_WEATHER_TOKEN}" },
  });
});

test.each([
  ["pypi", "weather-mcp", ["uvx", "weather-mcp@1.2.3"]],
  ["oci", "ghcr.io/ada/weather:1", ["docker", "run", "-i", "--rm", "-e", "KEY", "ghcr.io/ada/weather:1"]],
  ["nuget", "Ada.Weather", ["dnx", "Ada.Weather@1.2.3", "--yes"]],
])("starts a %s package by its usual command [M10]", async (registryType, identifier, [command, ...args]) => {
  const cwd = project();
  write(cwd, withPackage({ registryType, identifier, environmentVariables: [{ name: "KEY", value: "1" }] }));
  expect(await mcp(["add", "server.json", "--yes"], { cwd })).toMatchObject({ exit: 0 });
  expect(readEntry(cwd, "weather")).toEqual({ command, args, env: { KEY: "1" } });
});

test.each([
  ["an input is missing", SERVER_JSON, [], /needs city, WEATHER_KEY: give --input city=… --input WEATHER_KEY=…/],
  ["an input is unknown", SERVER_JSON, flagsOf("town=Oslo"), /has no input "town"/],
  ["a value is no choice", SERVER_JSON, flagsOf("city=a", "units=kelvin"), /units must be one of metric, imperial/],
  ["there is no such package", SERVER_JSON, ["--package", "oci"], /it offers npm, remote, and no oci/],
  ["the name is an option", withPackage({ identifier: "--call" }), [], /identifier is not one of an npm package/],
  ["the version is open", withPackage({ version: "latest" }), [], /version of a package must be one version/],
  [
    "the command is another",
    withPackage({ runtimeHint: "sh" }),
    [],
    /runtimeHint of an npm package must be one of npx/,
  ],
  ["a registry is another", withPackage({ registryBaseUrl: "https://evil.example" }), [], /registryBaseUrl/],
  [
    "a value names a variable of the user",
    withPackage({ environmentVariables: [{ name: "A", value: "${AWS_SECRET_ACCESS_KEY}" }] }),
    [],
    /names a variable that a package cannot have/,
  ],
  ["it starts a server over HTTP", withPackage({ transport: { type: "sse" } }), [], /starts a server over HTTP itself/],
  ["it is no object", [], [], /it is not a JSON object/],
])("refuses a registry entry, and writes nothing, if %s [M10]", async (_what, value, flags, message) => {
  const cwd = project();
  write(cwd, value);
  const ended = await mcp(["add", "server.json", ...flags, "--yes"], { cwd });
  expect(ended).toMatchObject({ exit: 2, stderr: expect.stringMatching(message) as string });
  expect(existsSync(join(cwd, ".mcp.json"))).toBe(false);
});

test("shows what a package would start, and adds nothing without a yes [M10]", async () => {
  const cwd = project();
  write(cwd, withPackage({ environmentVariables: [{ name: "NODE_OPTIONS", value: "-r x" }] }));
  const ended = await mcp(["add", "server.json"], { cwd });
  expect(ended.exit).toBe(4);
  expect(ended.stderr).toContain("npx -y @ada/weather-mcp@1.2.3\n  with NODE_OPTIONS");
  expect(existsSync(join(cwd, ".mcp.json"))).toBe(false);
});

const SERVER = readFileSync("test/fixtures/mcp/server.js", "utf8");

const MANIFEST = {
  manifest_version: "0.3",
  name: "Notes of Ada",
  version: "1.0.0",
  description: "Notes",
  author: { name: "Ada" },
  server: {
    type: "node",
    entry_point: "server/index.mjs",
    mcp_config: {
      command: "node",
      args: ["${__dirname}/server/index.mjs", "${user_config.folders}", "--limit=${user_config.limit}"],
      env: { NOTES_KEY: "${user_config.key}", NOTES_NONE: "${user_config.none}" },
    },
  },
  user_config: {
    folders: { type: "directory", title: "Folders", description: "Where notes are", multiple: true, required: true },
    limit: { type: "number", title: "Limit", description: "Most notes", default: 10, min: 1, max: 100 },
    key: { type: "string", title: "Key", description: "The key", sensitive: true },
    none: { type: "string", title: "None", description: "Nothing" },
  },
};

const bundle = (manifest: object = MANIFEST): Buffer =>
  zip([
    { name: "manifest.json", content: JSON.stringify(manifest) },
    { name: "server/" },
    { name: "server/index.mjs", content: SERVER, mode: 0o100755 },
  ]);

const INPUTS = flagsOf("folders=/a", "folders=/b", "key=k-1");

test("unpacks a bundle, fills in what the user gives, and calls its server [M10]", { tags: "rest" }, async () => {
  const cwd = project();
  const bytes = bundle();
  writeFileSync(join(cwd, "notes.mcpb"), bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const added = await mcp(["add", "notes", "notes.mcpb", ...INPUTS, "--sha256", sha256, "--yes"], { cwd });
  expect(added).toMatchObject({ exit: 0 });
  const entry = readEntry(cwd, "notes") as { readonly cwd: string };
  expect(entry).toEqual({
    command: "node",
    args: [join(entry.cwd, "server/index.mjs"), "/a", "/b", "--limit=10"],
    cwd: expect.stringContaining(`Notes-of-Ada-${sha256.slice(0, 16)}`) as string,
    env: { NOTES_KEY: "${MCP_NOTES_OF_ADA_KEY}" },
  });
  expect(statSync(join(entry.cwd, "server/index.mjs")).mode & 0o777).toBe(0o755);
  const called = await skillgate(["call", "NotesMCP.environment", "--json"], { cwd });
  expect(called).toMatchObject({ exit: 0, stdout: expect.stringContaining('"NOTES_KEY"') as string });
});

test("fetches a bundle through redirects, and refuses another digest [M10]", async () => {
  const bytes = bundle();
  const server = createServer((request, response) => {
    if (request.url === "/moved.mcpb") return response.writeHead(302, { location: "/notes.mcpb" }).end();
    return response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/moved.mcpb`;
  const cwd = project();
  expect(await mcp(["add", "notes", url, ...INPUTS, "--sha256", "0".repeat(64), "--yes"], { cwd })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`and not ${"0".repeat(64)}`) as string,
  });
  expect(await mcp(["add", "notes", url, ...INPUTS, "--yes"], { cwd })).toMatchObject({ exit: 0 });
});

test.each([
  ["http://192.0.2.1/a.mcpb", /only https addresses are fetched/],
  ["missing.mcpb", /Cannot read "missing.mcpb"/],
])("refuses to read %s [M10]", async (source, message) => {
  const ended = await mcp(["add", "notes", source, "--yes"], { cwd: project() });
  expect(ended).toMatchObject({ exit: 2, stderr: expect.stringMatching(message) as string });
});

const withServer = (server: object): object => ({ ...MANIFEST, server: { ...MANIFEST.server, ...server } });

test.each([
  ["another version", { ...MANIFEST, manifest_version: "9" }, /manifest_version of the bundle must be one of/],
  ["another platform", { ...MANIFEST, compatibility: { platforms: ["amiga"] } }, /The bundle is for amiga/],
  ["another type", withServer({ type: "sh" }), /server.type of the bundle must be/],
  [
    "a variable of the user",
    withServer({ mcp_config: { command: "node", args: ["${AWS_SECRET_ACCESS_KEY}"] } }),
    /a variable that is not known: \$\{AWS_SECRET_ACCESS_KEY\}/,
  ],
  [
    "a command of the user",
    withServer({ mcp_config: { command: "node", args: ["${cmd:id}"] } }),
    /a variable that is not known/,
  ],
])("refuses a bundle with %s [M10]", async (_what, manifest, message) => {
  const cwd = project();
  writeFileSync(join(cwd, "notes.mcpb"), bundle(manifest));
  const ended = await mcp(["add", "notes.mcpb", ...INPUTS, "--yes"], { cwd });
  expect(ended).toMatchObject({ exit: 2, stderr: expect.stringMatching(message) as string });
});

test.each<[string, Buffer, RegExp]>([
  ["a path above", zip([{ name: "../evil" }]), /is not a path inside/],
  ["a path above, inside", zip([{ name: "a/../../evil" }]), /is not a path inside/],
  ["an absolute path", zip([{ name: "/etc/passwd" }]), /is not a path inside/],
  ["a path of Windows", zip([{ name: "a\\b" }]), /is not a path inside/],
  ["a drive", zip([{ name: "c:evil" }]), /is not a path inside/],
  ["a control character", zip([{ name: "a\nb" }]), /is not a path inside/],
  ["a link", zip([{ name: "link", mode: 0o120777, content: "/etc/passwd" }]), /is a link or a special file/],
  ["a device", zip([{ name: "device", mode: 0o020666 }]), /is a link or a special file/],
  ["one path twice", zip([{ name: "A" }, { name: "a" }]), /are one path on some systems/],
  ["a file and a folder of one name", zip([{ name: "a" }, { name: "a/b" }]), /are one path on some systems/],
  ["a folder and a file of one name", zip([{ name: "a/b" }, { name: "A" }]), /are one path on some systems/],
  ["folders too deep", zip([{ name: `${"a/".repeat(50)}b` }]), /is not a path inside/],
  ["an encrypted file", zip([{ name: "a", flags: 1 }]), /is encrypted/],
  ["too many bytes", zip([{ name: "a", size: 0x7fffffff }]), /more than 1073741824 bytes/],
  ["no archive", Buffer.from("hello"), /is not a zip archive/],
  ["a directory that is cut", zip([{ name: "a" }]).subarray(8), /damaged|not a zip archive/],
])("refuses an archive with %s [M10]", (_what, bytes, message) => {
  expect(() => listArchive(bytes)).toThrow(message);
});

test.each<[string, ZipFile]>([
  ["more than it says", { name: "a", content: "x".repeat(1_000), size: 10 }],
  ["less than it says", { name: "a", content: "x", size: 10 }],
  ["another checksum", { name: "a", content: "x", checksum: 1 }],
])("refuses a file that unpacks to %s [M10]", (_what, file) => {
  expect(() => listArchive(zip([file]))[0]?.read()).toThrow('Cannot unpack the bundle: "a" is damaged');
});

test("reads a bundle that is signed at its end [M10]", () => {
  const signed = zip([{ name: "a", content: "hello" }], Buffer.from("MCPB_SIG_V1 a signature MCPB_SIG_END"));
  expect(listArchive(signed).map((file) => [file.path, String(file.read())])).toEqual([["a", "hello"]]);
});

test("gives a package none of the variables that there are, and keeps them [M10, P12]", async () => {
  const cwd = project();
  const input = (id: string) => ({ [id]: { description: "A key", isSecret: true, default: "none" } });
  const variables = { ...input("KEY"), ...input("api-key"), ...input("api_key") };
  const remote = { type: "streamable-http", url: "https://sky.example/{KEY}/{api-key}/{api_key}", variables };
  write(cwd, { ...SERVER_JSON, name: "example.ada/aws", packages: [], remotes: [remote] });
  writeFileSync(join(cwd, ".env"), "MCP_AWS_KEY=mine\n");
  const env = { MCP_AWS_API_KEY: "also mine", KEY: "mine too" };
  const added = await mcp(["add", "server.json", ...flagsOf("KEY=a", "api-key=b"), "--yes"], { cwd, env });
  expect(added).toMatchObject({ exit: 0 });
  expect(readEntry(cwd, "aws")).toMatchObject({
    url: "https://sky.example/${MCP_AWS_KEY_2}/${MCP_AWS_API_KEY_2}/${MCP_AWS_API_KEY_3}",
  });
  expect(readFileSync(join(cwd, ".env"), "utf8").trim().split("\n")).toEqual([
    "MCP_AWS_KEY=mine",
    "MCP_AWS_KEY_2=a",
    "MCP_AWS_API_KEY_2=b",
    "MCP_AWS_API_KEY_3=none",
  ]);
});

test.each([
  ["--env", "A=b"],
  ["--header", "A: b"],
  ["--client-id", "abc"],
  ["--callback-port", "1234"],
])("refuses %s beside a package, which would be without effect [M10]", async (flag, value) => {
  const cwd = project();
  write(cwd, SERVER_JSON);
  const refused = await mcp(["add", "sky", "./server.json", flag, value, "--yes"], { cwd });
  expect(refused).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`Cannot use ${flag} for a server.json`) as string,
  });
});

test("exports a server as a registry entry without secrets, which can be added again [M10]", async () => {
  const weather = { command: "npx", args: ["-y", "weather-mcp@1.2.3", "--fast"], env: { KEY: "k-very-secret-123" } };
  const sky = { url: "https://sky.example/mcp", headers: { Authorization: "Bearer abc" } };
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: { weather, sky } }) });
  const exported = await mcp(["export", "weather", "--id", "io.github.ada/weather"], { cwd });
  expect(exported.stdout).not.toContain("k-very-secret");
  expect(JSON.parse(exported.stdout)).toEqual({
    $schema: SERVER_JSON.$schema,
    name: "io.github.ada/weather",
    description: "MCP server io.github.ada/weather",
    version: "1.2.3",
    packages: [
      {
        registryType: "npm",
        identifier: "weather-mcp",
        version: "1.2.3",
        runtimeHint: "npx",
        transport: { type: "stdio" },
        packageArguments: [{ type: "positional", value: "--fast" }],
        environmentVariables: [{ name: "KEY", description: "KEY", isRequired: true, isSecret: true }],
      },
    ],
  });
  expect(await mcp(["export", "sky", "--output", "sky.server.json"], { cwd })).toMatchObject({ exit: 0 });
  expect(await mcp(["export", "sky", "--output", "sky.server.json"], { cwd })).toMatchObject({ exit: 2 });
  const flags = [...flagsOf("Authorization=Bearer xyz"), "--yes"];
  expect(await mcp(["add", "again", "sky.server.json", ...flags], { cwd })).toMatchObject({ exit: 0 });
  expect(readEntry(cwd, "again")).toMatchObject({ type: "http", url: "https://sky.example/mcp" });
});

test.each([
  ["own", { command: "node", args: ["x.js"] }, "have a registry entry"],
  ["leak", { url: "https://a.example/mcp?api_key=abcdef0123456789" }, "has a secret or a variable"],
])("refuses to export a server that no registry entry can describe: %s [M10]", async (name, entry, message) => {
  const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: { [name]: entry } }) });
  const ended = await mcp(["export", name], { cwd });
  expect(ended).toMatchObject({ exit: 2, stderr: expect.stringContaining(message) as string });
});
