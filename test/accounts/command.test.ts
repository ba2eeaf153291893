import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

import { toServerConfig } from "../../src/config/index.ts";
import { tokensInMemory } from "../../src/providers/mcp/oauth/tokens-in-memory.ts";
import { protectedServer } from "../support/mcp/authorization-server.ts";
import { connected } from "../support/mcp/servers.ts";
import {
  BIN,
  type Ended,
  environment,
  HAS_TERMINAL,
  type Place,
  project,
  skillgate,
  start,
} from "../surfaces/cli/command.ts";

const KEY = "a1B2c3D4e5F6g7H8-notes-key";

type Account = (args: readonly string[], more?: Partial<Place>) => Promise<Ended>;

function open(cwd: string): Account {
  return (args, more) => skillgate(["account", ...args], { cwd, ...more });
}

/** Lists the files below a folder with one of these texts in them. */
function findFiles(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile())
    .filter((file) => texts.some((text) => readFileSync(file, "latin1").includes(text)));
}

test("account adds, connects, lists, tests, rotates, revokes and removes an account, and shows no value [O1]", async () => {
  const cwd = project();
  const account = open(cwd);
  const printed: Ended[] = [];
  const run: Account = async (args, more) => {
    const ended = await account(args, more);
    printed.push(ended);
    return ended;
  };
  expect(
    await run(["add", "notes", "--type", "apiKey", "--in", "header", "--name", "X-Api-Key", "--for", "everyone"]),
  ).toMatchObject({
    exit: 0,
    stdout: "Added notes to settings.yaml\n",
    stderr: expect.stringContaining("Connect it: skillgate account connect notes"),
  });
  expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toBe(
    "accounts:\n  notes:\n    type: apiKey\n    in: header\n    for: everyone\n    name: X-Api-Key\n",
  );
  expect((await run(["list"])).stdout).toMatch(/^notes {2}apiKey {2}everyone {2}not connected/);
  expect(await run(["connect", "notes", "--stdin"], { input: `${KEY}\n` })).toMatchObject({
    exit: 0,
    stdout: "Connected notes\n",
  });
  expect((await run(["list"])).stdout).toMatch(/^notes {2}apiKey {2}everyone {2}connected/);
  expect(await run(["test", "notes"])).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("✓ notes: the credential can be read"),
  });
  const listed = JSON.parse((await run(["list", "--json"])).stdout) as { accounts: readonly object[] };
  expect(listed.accounts).toMatchObject([
    { name: "notes", state: "connected", owner: null, for: "everyone", skills: [] },
  ]);
  expect(await run(["rotate"])).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/^Encrypted 1 credential with a new key in .*account\.key\n$/),
  });
  expect(await run(["test", "notes"])).toMatchObject({ exit: 0 });
  expect(findFiles(dirname(cwd), [KEY])).toEqual([]);
  expect((await run(["remove", "notes"])).stderr).toContain("Its stored credentials stay: 1");
  expect(await run(["revoke", "notes"])).toMatchObject({
    exit: 0,
    stdout: "Revoked the connection of notes for everyone\n",
    stderr: expect.stringContaining(
      "It is deleted here, and may still be valid at the service: the settings do not have the account any more",
    ),
  });
  expect(await run(["revoke", "notes"])).toMatchObject({ exit: 2 });
  expect(await run(["list", "--json"])).toMatchObject({ stdout: expect.stringContaining('"accounts":[]') });
  expect(JSON.stringify(printed)).not.toContain(KEY);
});

test(
  "account connects each caller by the name of its key, and two values of one account [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project({
      "settings.yaml": "accounts: { shop: { type: apiKey, in: query, name: [client_id, secret], for: caller } }\n",
    });
    const account = open(cwd);
    for (const key of ["ada", "bob"]) await skillgate(["keys", "create", key, "--call", "*"], { cwd });
    const connect = (caller: string, input: string): Promise<Ended> =>
      account(["connect", "shop", "--caller", caller, "--stdin"], { input });
    expect(await connect("ada", "id-of-ada-1\nsecret-of-ada-1")).toMatchObject({
      exit: 0,
      stdout: "Connected shop for ada\n",
    });
    expect(await connect("bob", "only-one-line")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("The standard input must have 2 lines: client_id, secret"),
    });
    expect(await connect("eve", "a\nb")).toMatchObject({ exit: 5, stderr: expect.stringContaining("Unknown") });
    const { stdout } = await account(["list"]);
    expect(stdout).toMatch(/shop {2}apiKey {2}owner {2}not connected/);
    expect(stdout).toMatch(/shop {2}apiKey {2}ada {4}connected/);
    expect(await account(["test", "shop", "--caller", "bob"])).toMatchObject({
      exit: 6,
      stdout: expect.stringContaining("shop (bob) is not connected"),
    });
    expect(await account(["revoke", "shop", "--caller", "bob"])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("There is no connection of shop for bob"),
    });
    expect(await account(["revoke", "shop", "--caller", "ada"])).toMatchObject({ exit: 0 });
  },
);

test(
  "account add refuses a secret on the command line, and settings that make no sense [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    const add = (...args: readonly string[]): Promise<Ended> => open(cwd)(["add", ...args]);
    const literal = await add("stripe", "--type", "bearer", "--token", "sk_live_0123456789abcdef");
    expect(literal).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--token must be the name of a variable, as in --token '${MY_SECRET}'"),
    });
    expect(JSON.stringify(literal)).not.toContain("0123456789abcdef");
    expect(await add("x", "--type", "oauth", "--client-id", "a")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("accounts.x must have an issuer, or authorizationUrl and tokenUrl"),
    });
    expect(await add("a b", "--type", "bearer")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('"a b" cannot name an account'),
    });
    expect(existsSync(join(cwd, "settings.yaml"))).toBe(false);
    expect(await add("stripe", "--type", "bearer", "--token", "${STRIPE_KEY}")).toMatchObject({
      exit: 0,
      stderr: expect.stringContaining("accounts.stripe: environment variable STRIPE_KEY is not set"),
    });
    expect(await add("stripe", "--type", "bearer")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("settings.yaml has an account stripe already"),
    });
    expect(await open(cwd)(["connect", "stripe"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("environment variable STRIPE_KEY is not set"),
    });
    expect((await open(cwd)(["list"])).stdout).toMatch(/^stripe {2}bearer {2}everyone {2}not set\n/);
    expect((await skillgate(["doctor"], { cwd })).stdout).toContain("    environment variable STRIPE_KEY is not set\n");
    expect(await open(cwd)(["connect", "stirpe"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("There is no account stirpe in settings.yaml; it has stripe"),
    });
  },
);

test("account test makes the request of the settings, and reports what the service answers [O1]", async () => {
  const requests: string[] = [];
  const server = createServer((request, answer) => {
    requests.push(`${request.url} ${request.headers.authorization}`);
    answer.writeHead(request.headers.authorization === `Bearer ${KEY}` ? 200 : 401).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/me`;
  const cwd = project();
  const write = (more: string): void =>
    writeFileSync(
      join(cwd, "settings.yaml"),
      `accounts: { notes: { type: bearer, token: "\${NOTES}", test: "${url}"${more} } }\n`,
    );
  const check = (token: string): Promise<Ended> => open(cwd)(["test", "notes"], { env: { NOTES: token } });
  write("");
  expect(await check(KEY)).toMatchObject({
    exit: 6,
    stdout: expect.stringContaining("needs the setting private: true"),
  });
  expect(requests).toEqual([]);
  write(", private: true");
  expect(await check(KEY)).toMatchObject({ exit: 0, stdout: expect.stringContaining("accepts the credential") });
  const refused = await check("another-token-123");
  expect(refused).toMatchObject({ exit: 6, stdout: expect.stringContaining("answers with status 401") });
  expect(requests).toEqual([`/me Bearer ${KEY}`, "/me Bearer another-token-123"]);
});

test.skipIf(!HAS_TERMINAL)("account connect asks at a terminal without an echo [O1]", { tags: "rest" }, async () => {
  const cwd = project({ "settings.yaml": "accounts: { notes: { type: bearer, for: everyone } }\n" });
  const line = `"${process.execPath}" "${BIN}" account connect notes`;
  const child = spawn("script", ["-qefc", line, "/dev/null"], {
    cwd,
    env: environment(cwd, { TERM: "xterm", NO_COLOR: "1" }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  for await (const chunk of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
    const isAsked = screen.includes("token: ");
    screen += chunk;
    if (!isAsked && screen.includes("token: ")) child.stdin.write(`${KEY}\n`);
  }
  expect(screen).toContain("Connected notes");
  expect(screen).not.toContain(KEY);
});

test("doctor names accounts that must be connected again, that nothing uses, and whose key is missing [O1]", async () => {
  const cwd = project({
    "settings.yaml": "accounts: { notes: { type: bearer, for: everyone }, wiki: { type: basic } }\n",
  });
  const account = open(cwd);
  await account(["connect", "notes", "--stdin"], { input: KEY });
  await account(["connect", "wiki", "--stdin"], { input: `ada\n${KEY}` });
  const settings =
    "accounts: { notes: { type: bearer, for: everyone, servers: [https://x.example] }, wiki: { type: basic } }\n";
  writeFileSync(join(cwd, "settings.yaml"), settings);
  rmSync(join(dirname(cwd), "home/.local/state/skillgate/account.key"));
  const { stdout } = await skillgate(["doctor"], { cwd });
  expect(stdout).toContain("! Account notes: no API, MCP server or skill uses it\n");
  expect(stdout).toContain(
    "notes (everyone) must be connected again: its settings have changed since it was connected",
  );
  expect(stdout).toMatch(
    /wiki \(owner\): Cannot use the account now: its stored value is encrypted with the key [0-9a-f]{8}/,
  );
});

test(
  "account lists the logins at MCP servers, takes over those of an earlier version, and removes one [O1]",
  { tags: "rest" },
  async () => {
    const server = await protectedServer();
    const cwd = project({ ".mcp.json": JSON.stringify({ mcpServers: { web: { type: "http", url: server.url } } }) });
    const state = join(dirname(cwd), "home", ".local", "state", "skillgate");
    mkdirSync(state, { recursive: true });
    const tokens = tokensInMemory();
    const authorize = async ({ url }: { readonly url: URL }): Promise<void> => void (await fetch(url));
    await connected([toServerConfig("web", { url: server.url })], { tokens, authorize });
    const key = `tokens ${server.url} owner`;
    writeFileSync(join(state, "logins.json"), JSON.stringify({ [key]: await tokens.get(key) }));
    const account = open(cwd);
    const { stdout } = await account(["list", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ logins: [{ server: server.url, kind: "server", owner: "owner" }] });
    expect((await account(["list"])).stdout).toContain(`Logins at MCP servers:\n  ${server.url}  owner  server`);
    expect(findFiles(dirname(cwd), server.tokens)).toEqual([]);
    const listed = await skillgate(["mcp", "list", "--json"], { cwd });
    expect(listed.stdout).toContain('"status":"connected"');
    for (const token of server.tokens) expect(listed.stdout).not.toContain(token);
    expect(await account(["rotate"])).toMatchObject({
      stdout: expect.stringMatching(/^Encrypted 1 credential with a new key/),
    });
    const other = { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4) };
    const doctor = await skillgate(["doctor"], { cwd, env: other });
    expect(doctor.stdout).toContain(`! Login at ${server.url}: it cannot be read`);
    expect(doctor.stdout).toContain(
      "which the variable SKILLGATE_ACCOUNT_KEY does not have; add that key after the first one",
    );
    const unreadable = await skillgate(["mcp", "list", "--json"], { cwd, env: other });
    expect(unreadable.stdout + unreadable.stderr).toContain("log in again: skillgate mcp login");
    expect(await account(["revoke", server.url])).toMatchObject({
      exit: 0,
      stdout: `Removed the login at ${server.url}\n`,
      stderr: expect.stringContaining("Its tokens may still be valid at the server until they end"),
    });
    expect(await account(["revoke", server.url])).toMatchObject({ exit: 5 });
    expect((await account(["list"])).stdout).not.toContain(server.url);
  },
);

test(
  "account loses no login of an earlier version if it is killed while it takes them over",
  { tags: "rest", timeout: 180_000 }, // writes a file 3,600 times, and waits for the disk each time
  async () => {
    const cwd = project();
    const state = join(dirname(cwd), "home", ".local", "state", "skillgate");
    mkdirSync(state, { recursive: true });
    const file = join(state, "logins.json");
    const token = "access-token-of-before-4f9c2e71b8";
    const grant = { redirectUrl: "http://127.0.0.1:1/callback", tokens: { access_token: token, token_type: "bearer" } };
    const servers = Array.from({ length: 300 }, (_, at) => `https://${at}.example/`);
    const plain = JSON.stringify(Object.fromEntries(servers.map((server) => [`tokens ${server} owner`, grant])));
    let killed = 0;
    for (const delayMs of [0, 1, 2, 4, 8, 16]) {
      writeFileSync(file, plain, { mode: 0o600 });
      const child = start(["account", "list"], { cwd });
      const end = once(child, "close");
      // The lock shows that it has begun.
      await expect
        .poll(() => lstatSync(`${file}.write`, { throwIfNoEntry: false }) !== undefined || child.exitCode !== null, {
          interval: 1,
        })
        .toBe(true);
      await wait(delayMs);
      if (child.exitCode === null) killed++;
      child.kill("SIGKILL");
      await end;
      const { stdout } = await skillgate(["account", "list", "--json"], { cwd });
      expect(JSON.parse(stdout)).toMatchObject({ logins: servers.map((server) => ({ server })) });
      expect(readFileSync(file, "utf8")).not.toContain(token);
      expect((await skillgate(["account", "rotate"], { cwd })).stdout).toMatch(/^Encrypted 300 credentials/);
    }
    expect(killed).toBeGreaterThan(0);
  },
);
