import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, test } from "vitest";

import { normalizeEntry, toServerConfig } from "../../../../src/config/index.ts";
import { KnownSecrets } from "../../../../src/shared/secrets.ts";
import { modernServer } from "../../../support/mcp/http-servers.ts";
import { call, connected, fixture, temporaryFolder } from "../../../support/mcp/servers.ts";

const NODE = `"${process.execPath}"`;
const SECRET = "s3cret-of-the-vault";

/** A program that prints a secret, and counts its runs. */
async function vault(print = `console.log(${JSON.stringify(SECRET)})`): Promise<string> {
  const file = join(await temporaryFolder(), "vault with spaces.cjs");
  await writeFile(file, print);
  return `\${cmd:${NODE} "${file}"}`;
}

test("fills in the output of a command when the server starts, and masks it [M2, P9]", async () => {
  const secrets = new KnownSecrets();
  const config = fixture([], { env: { TOKEN: `Bearer ${await vault()}` } });
  expect(JSON.stringify(config)).not.toContain(SECRET);
  const provider = await connected([config], { secrets });
  expect(await call(provider, "environment")).toMatchObject({ TOKEN: `Bearer ${SECRET}` });
  expect(secrets.mask(`it is ${SECRET}`)).toBe("it is [redacted]");
});

test("fills in headers of a server over HTTP, and arguments [M2]", async () => {
  const server = await modernServer();
  const headers = { Authorization: `Bearer ${await vault()}` };
  const provider = await connected([toServerConfig("remote", { url: server.url, headers })]);
  expect(provider.servers[0]?.status).toBe("connected");
  expect(server.requests.every((request) => request.includes(`Bearer ${SECRET}`))).toBe(true);
  const other = await connected([fixture([await vault("console.log('unknown-way')")])]);
  expect(other.servers[0]?.status).toBe("connected");
});

test("runs no command for the value of a variable, and no shell [M2, P12]", async () => {
  const env = { SLY: `\${cmd:${NODE} -e 0}`, HOME: "/home/ada" };
  const config = toServerConfig("x", { command: "c", env: { A: "${SLY}", B: "${cmd:echo $HOME; ls `pwd`}" } }, { env });
  expect(config).toMatchObject({ env: { A: env.SLY } });
  expect(Object.values(config.commands?.words ?? {})).toEqual([["echo", "$HOME;", "ls", "`pwd`"]]);
});

test.each([
  ["process.exit(3)", /, which exited with code 3 \(SERVER_FAILED\)$/],
  [
    "console.error('vault is locked'); process.exit(1)",
    /, which exited with code 1: vault is locked \(SERVER_FAILED\)$/,
  ],
  ["", /, which printed nothing \(SERVER_FAILED\)$/],
  ["console.log('a\\u0007b')", /, which printed control characters \(SERVER_FAILED\)$/],
  ["console.log('x'.repeat(70_000))", /, which printed more than 64 KB \(SERVER_FAILED\)$/],
])("names a command that fails: %s [M2]", { tags: "rest" }, async (print, why) => {
  const line = await vault(print);
  const provider = await connected([fixture([], { env: { TOKEN: line } })]);
  const { status, error = "" } = provider.servers[0] ?? {};
  expect(status).toBe("error");
  expect(error).toMatch(why);
  expect(error).toContain("vault with spaces.cjs");
});

test("names a command that does not exist [M2]", async () => {
  const provider = await connected([fixture([], { env: { TOKEN: "${cmd:no-such-vault read x}" } })]);
  expect(provider.servers[0]?.error).toMatch(
    /"fixture" needs "no-such-vault read x", which does not exist \(SERVER_FAILED\)$/,
  );
});

test.each([
  [{ command: "${cmd:echo x}" }, "command cannot have ${cmd:…}"],
  [{ command: "c", cwd: "${cmd:echo x}" }, "cwd cannot have ${cmd:…}"],
  [{ command: "c", env: { A: '${cmd:echo "x}' } }, String.raw`env has a wrong command: "echo \"x"`],
  [{ command: "c", env: { A: "${cmd: }" } }, 'env has a wrong command: " "'],
])("refuses %j [M2]", (entry, error) => {
  expect(() => toServerConfig("x", entry)).toThrow(`MCP server 'x': ${error}`);
});

test("keeps the commands of an imported entry [M10]", () => {
  const env = { TOKEN: "${cmd:op read op://dev/token}" };
  expect(normalizeEntry({ command: "x", env })).toMatchObject({ env });
});
