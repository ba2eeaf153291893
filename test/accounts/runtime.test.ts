import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, type RuntimeOptions } from "../../src/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { Runtime } from "../../src/runtime.ts";

const ADA: Caller = { id: "key:ada:000000000001", permissions: [] };
const EVE: Caller = { id: "key:eve:000000000003", permissions: ["call:*", "admin:Read"] };
const OPERATOR: Caller = { id: "key:operator:000000000004", permissions: ["admin:ManageServers"] };
const TOKEN = "adas-token-4f9c2e71b8";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-accounts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function open(options: RuntimeOptions): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("leaves out an account with a mistake, and says where it is", async () => {
  const runtime = await open({
    env: { LINE: "a\nb" },
    accounts: {
      good: { type: "bearer" },
      absent: { type: "bearer", token: "${NOT_SET}" },
      half: { type: "basic", username: "ada" },
      mine: { type: "bearer", token: "some-token-value", for: "caller" },
      foreign: { type: "bearer", clientId: "abc" },
      placeless: { type: "apiKey", name: "key" },
      lost: { type: "oauth", clientId: "abc", authorizationUrl: "https://a.example" },
      local: { type: "oauth", clientId: "abc", issuer: "file:///etc" },
      public: { type: "oauth", clientId: "abc", grant: "client", tokenUrl: "https://a.example/token" },
      broken: { type: "apiKey", in: "header", name: "X Key", value: "abc" },
      line: { type: "bearer", token: "${LINE}" },
      command: { type: "bearer", token: "${cmd:cat key}" },
      "bad name": { type: "bearer" },
    },
  });
  expect(runtime.problems.map(({ error }) => error)).toEqual(
    [
      "accounts.absent: environment variable NOT_SET is not set",
      "accounts.half must have both username and password, or none of them if it is connected later",
      "accounts.mine has its credential in the settings, so it is for everyone; write for: everyone, or leave the credential out",
      "accounts.foreign.clientId is a setting of the type oauth, and the type is bearer",
      "accounts.placeless.in is required for the type apiKey",
      "accounts.lost must have an issuer, or authorizationUrl and tokenUrl",
      'accounts.local.issuer has "file:///etc", which is not a URL such as https://api.example.com',
      "accounts.public has the grant client, which needs a clientSecret",
      'accounts.broken.name has "X Key", which cannot name a header or a cookie',
      "accounts.line: token has a line break or a character that a header cannot have",
      "accounts.command.token cannot have ${cmd:…}; write a variable, as in ${NAME}",
      '"bad name" cannot name an account: it must have letters, digits, _ and -, at most 64',
    ].map((error) => expect.stringContaining(error) as string),
  );
  expect((await runtime.accounts.list()).map(({ name, reason }) => [name, reason])).toEqual([
    ["good", null],
    ["absent", expect.stringContaining("is not set")],
  ]);
  await expect(createRuntime({ accounts: { x: { type: "secret" } as never } })).rejects.toThrow(
    "accounts.x.type must be apiKey, basic, bearer or oauth",
  );
});

test("keeps connections over restarts with a key in the user's state folder, which the folder of the store does not have", async () => {
  const [home, store] = [createFolder(), createFolder()];
  const options = { env: { HOME: home, XDG_STATE_HOME: "" }, store, accounts: { notes: { type: "bearer" } } } as const;
  const first = await open(options);
  await first.accounts.connect({ name: "notes", caller: ADA }, [TOKEN]);
  expect(first.secrets.mask(TOKEN)).toBe("[redacted]");
  await first.close();
  const keyFile = join(home, ".local/state/skillgate/account.key");
  const key = readFileSync(keyFile, "utf8").trim();
  for (const name of readdirSync(store, { recursive: true, encoding: "utf8" }).filter((each) => each.includes(".")))
    expect(readFileSync(join(store, name), "latin1")).not.toMatch(key);
  const second = await open(options);
  expect(await second.viewFor(ADA).accounts.list()).toMatchObject([
    { name: "notes", state: "connected", owner: ADA.id },
  ]);
  rmSync(keyFile);
  expect(await second.accounts.rotate()).toMatchObject({ isKeyNew: true, changed: 0, unreadable: ["notes (ada)"] });
});

test("lets a caller change its own connections only, and an administrator of servers all", async () => {
  const runtime = await open({ accounts: { notes: { type: "bearer" }, shop: { type: "bearer", for: "everyone" } } });
  const [ada, eve, operator] = [runtime.viewFor(ADA), runtime.viewFor(EVE), runtime.viewFor(OPERATOR)];
  await ada.accounts.connect({ name: "notes" }, [TOKEN]);
  const refusal = { code: "ADMIN_MISSING" };
  await expect(eve.accounts.revoke({ name: "notes", owner: ADA.id })).rejects.toMatchObject(refusal);
  await expect(eve.accounts.connect({ name: "notes", owner: ADA.id }, ["eves-token-123"])).rejects.toMatchObject(
    refusal,
  );
  await expect(eve.accounts.connect({ name: "shop" }, ["eves-token-123"])).rejects.toMatchObject(refusal);
  await expect(eve.accounts.revoke({ name: "shop", owner: null })).rejects.toMatchObject(refusal);
  await expect(eve.accounts.rotate()).rejects.toMatchObject(refusal);
  expect(await eve.accounts.revoke({ name: "notes" })).toEqual({ isRevoked: false });
  expect(await eve.accounts.list()).toMatchObject([{ name: "notes", owner: EVE.id, state: "missing" }]);
  await operator.accounts.connect({ name: "shop" }, ["shop-token-123"]);
  expect((await operator.accounts.list()).map(({ name, owner }) => [name, owner])).toEqual([
    ["notes", OPERATOR.id],
    ["notes", ADA.id],
    ["shop", null],
  ]);
  expect(await operator.accounts.revoke({ name: "notes", owner: ADA.id })).toEqual({ isRevoked: true });
  await expect(ada.accounts.connect({ name: "__proto__" }, [TOKEN])).rejects.toMatchObject({ code: "OPTION_INVALID" });
});

test("logs and audits connections and their ends, without values", async () => {
  const lines: string[] = [];
  const runtime = await open({
    store: createFolder(),
    env: { HOME: createFolder() },
    audit: "store",
    accounts: { notes: { type: "bearer" } },
    log: (_level, text) => lines.push(text),
  });
  await runtime.accounts.connect({ name: "notes", owner: ADA.id }, [TOKEN]);
  await runtime.accounts.revoke({ name: "notes", owner: ADA.id });
  expect(lines).toEqual([
    'The account notes (ada) was connected by the caller "owner"',
    'The account notes (ada) was revoked by the caller "owner"',
  ]);
  const { audit } = await runtime.database();
  const records = async (): Promise<string[]> => (await audit.tail(10)).map(({ record }) => record);
  await expect.poll(records).toHaveLength(2);
  expect(JSON.parse((await records())[0] ?? "")).toMatchObject({
    event: "account connected",
    method: "account:notes",
    caller: "owner",
    owner: ADA.id,
  });
  expect((await records()).join()).not.toContain(TOKEN);
});

test("reads the key of the setting store.accountKey from a variable or a command", async () => {
  const key = randomBytes(32).toString("base64");
  const [cwd, home] = [createFolder(), createFolder()];
  writeFileSync(join(cwd, "key.txt"), key);
  const write = (accountKey: string): void =>
    writeFileSync(
      join(cwd, "settings.yaml"),
      `store: { dir: store, accountKey: ${JSON.stringify(accountKey)} }\naccounts: { notes: { type: bearer } }\n`,
    );
  const options = { cwd, settings: "settings.yaml", env: { HOME: home, ACCOUNT_KEY: key, PATH: process.env["PATH"] } };
  write("${ACCOUNT_KEY}");
  const first = await open(options);
  await first.accounts.connect({ name: "notes", caller: ADA }, [TOKEN]);
  expect(await first.accounts.rotate()).toMatchObject({ keys: "the setting store.accountKey", isKeyNew: false });
  expect(first.secrets.mask(key)).toBe("[redacted]");
  write("${cmd:cat key.txt}");
  const second = await open(options);
  expect(await second.accounts.rotate()).toMatchObject({ changed: 0, unreadable: [] });
  write("${cmd:cat missing.txt}");
  const third = await open(options);
  await expect(third.accounts.connect({ name: "notes", caller: ADA }, [TOKEN])).rejects.toThrow(
    /Cannot use the account now: the setting store.accountKey cannot be read: it needs "cat missing.txt", which exited with code 1/,
  );
  write("${NOT_SET}");
  const fourth = await open(options);
  await expect(fourth.accounts.connect({ name: "notes", caller: ADA }, [TOKEN])).rejects.toThrow(
    "environment variable NOT_SET is not set",
  );
  expect(readdirSync(home)).toEqual([]);
});

test("takes changed accounts while it is open", async () => {
  const cwd = createFolder();
  const write = (text: string): void => writeFileSync(join(cwd, "settings.yaml"), text);
  write("accounts: { notes: { type: bearer } }\n");
  const lines: string[] = [];
  const runtime = await open({ cwd, settings: "settings.yaml", env: {}, log: (_level, text) => lines.push(text) });
  await runtime.accounts.connect({ name: "notes", caller: ADA }, [TOKEN]);
  write("accounts: { notes: { type: bearer, servers: [https://evil.example] }, shop: { type: bearer } }\n");
  const ended = new Promise((resolve) => runtime.on("account", resolve));
  await runtime.reloadSettings();
  const why = "its settings have changed since it was connected";
  expect(await ended).toMatchObject({ name: "notes", owner: ADA.id, why });
  expect(lines).toContain(`The account notes (ada) must be connected again: ${why}`);
  expect((await runtime.viewFor(ADA).accounts.list()).map(({ name, state }) => [name, state])).toEqual([
    ["notes", "reconnect"],
    ["shop", "missing"],
  ]);
});

test("tells a caller of a server the link that connects an account, and the owner the command", async () => {
  const secret = "shop-token-123";
  const runtime = await open({
    accounts: {
      notes: { type: "bearer" },
      shop: { type: "bearer", for: "everyone" },
      wiki: { type: "bearer", token: secret },
    },
  });
  runtime.accounts.linkTo("https://gate.example");
  const test = async (name: string, caller?: Caller): Promise<string> =>
    (await runtime.accounts.test({ name, ...(caller && { caller }) })).detail;
  expect(await test("notes", ADA)).toContain(
    "notes (ada) is not connected; connect it: https://gate.example/connect/notes (ACCOUNT_MISSING)",
  );
  expect(await test("notes")).toContain("notes (owner) is not connected; connect it: skillgate account connect notes");
  expect(await test("shop", OPERATOR)).toContain(
    "shop (everyone) is not connected; the owner of the server connects it: skillgate account connect shop",
  );
  expect(await runtime.accounts.test({ name: "wiki" })).toMatchObject({ result: "readable" });
});

test("masks the keys of the variable from the start, also without accounts", async () => {
  const keys = [randomBytes(32).toString("base64"), randomBytes(32).toString("hex")];
  const runtime = await open({ env: { SKILLGATE_ACCOUNT_KEY: keys.join(", ") } });
  expect(runtime.secrets.mask(`the keys ${keys.join(" ")}`)).toBe("the keys [redacted] [redacted]");
});

test("refuses an address of alerts with a user name or a password, and does not repeat it", async () => {
  const cwd = createFolder();
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const problems: string[] = [];
  for (const address of ["https://ada:hidden-word-1@example.com/hook", "https://hidden-word-1@example.com/hook"]) {
    writeFileSync(join(cwd, "settings.yaml"), `alerts: { url: "${address}", secret: "\${ALERT_SECRET}" }\n`);
    const env = { HOME: createFolder(), ALERT_SECRET: secret };
    const runtime = await open({ cwd, settings: "settings.yaml", env });
    problems.push(...runtime.problems.map(({ error }) => error));
  }
  expect(problems).toHaveLength(2);
  for (const problem of problems) expect(problem).toContain("alerts.url must have no user name and no password");
  expect(problems.join()).not.toContain("hidden-word-1");
});

test("keeps logins in a folder encrypted with the key in it, and lets an administrator of servers remove those of others", async () => {
  const stateDir = createFolder();
  const grant = { redirectUrl: "http://127.0.0.1:1/callback", tokens: { access_token: TOKEN } };
  const key = "tokens https://notes.example/mcp owner";
  writeFileSync(join(stateDir, "logins.json"), JSON.stringify({ [key]: grant }));
  const runtime = await open({ mcp: { stateDir }, env: { HOME: createFolder() } });
  const login = { server: "https://notes.example/mcp", kind: "server", owner: "owner" } as const;
  expect(await runtime.accounts.listServerLogins()).toEqual([login]);
  expect(readFileSync(join(stateDir, "logins.json"), "utf8")).not.toContain(TOKEN);
  expect(existsSync(join(stateDir, "account.key"))).toBe(true);
  expect(await runtime.accounts.rotate()).toMatchObject({ changed: 0, unreadable: [] });
  const eve = runtime.viewFor(EVE);
  expect(await eve.accounts.listServerLogins()).toEqual([]);
  await expect(eve.accounts.removeServerLogin(login)).rejects.toMatchObject({ code: "ADMIN_MISSING" });
  expect(await runtime.viewFor(OPERATOR).accounts.removeServerLogin(login)).toBe(true);
  expect(await runtime.accounts.listServerLogins()).toEqual([]);
});
