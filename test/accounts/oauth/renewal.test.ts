import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";

import {
  type Accounts,
  createAccounts,
  createKeySource,
  describeConnect,
  type EndedConnection,
  type OAuthDefinition,
} from "../../../src/accounts/index.ts";
import type { OpenAccount } from "../../../src/model/account.ts";
import { MASK } from "../../../src/shared/masks/mask.ts";
import { KnownSecrets } from "../../../src/shared/secrets.ts";
import { createLazyDatabase, type StoreLocation } from "../../../src/store/index.ts";
import { prepareDatabases } from "../../support/databases.ts";
import { startOAuthProvider, type TestProvider } from "../../support/servers/oauth-provider.ts";
import { defineAccount } from "./define-account.ts";

const { kinds } = prepareDatabases();

const ADA = { id: "key:ada:000000000001", permissions: [] };
const BOB = { id: "key:bob:000000000002", permissions: [] };
const REDIRECT = "http://127.0.0.1:4321/callback";

interface OpenedAccounts {
  readonly accounts: Accounts;
  readonly secrets: KnownSecrets;
  readonly ended: EndedConnection[];
}

/** Opens the accounts of a store as each of its processes does. */
function createOpen(location: StoreLocation, definition: OAuthDefinition) {
  const variable = randomBytes(32).toString("base64");
  const keys = () =>
    createKeySource({ variable, folder: undefined, store: "folder", lockMs: 1_000, onSecrets: () => {} });
  return (now: () => number = Date.now): OpenedAccounts => {
    const database = createLazyDatabase(location);
    const secrets = new KnownSecrets();
    const ended: EndedConnection[] = [];
    const accounts = createAccounts({
      definitions: [definition],
      database,
      keys: keys(),
      secrets,
      describeConnect,
      now,
      onReconnect: (connection) => ended.push(connection),
    });
    onTestFinished(async () => {
      accounts.close();
      await database.close();
    });
    return { accounts, secrets, ended };
  };
}

async function logIn({ accounts }: OpenedAccounts, provider: TestProvider, user = "ada", owner = ADA.id) {
  const login = await accounts.logins.inBrowser({ name: "shop", owner }, REDIRECT);
  return login.finish(await provider.logIn(login.url, user));
}

function openAccount({ accounts }: OpenedAccounts, caller = ADA): Promise<OpenAccount> {
  const account = accounts.find("shop");
  if (account === undefined) throw new TypeError("There is no account shop");
  return account.open(caller);
}

function getToken({ credential }: OpenAccount): string {
  return credential[0]?.value.replace("Bearer ", "") ?? "";
}

/** Makes a request to the API as a source does: with another credential, if there is one, after a refusal. */
async function callApi(provider: TestProvider, opened: OpenAccount, path = "me"): Promise<unknown> {
  const send = (account: OpenAccount): Promise<Response> =>
    fetch(`${provider.apiUrl}/${path}`, { headers: { authorization: account.credential[0]?.value ?? "" } });
  const response = await send(opened);
  if (response.ok) return response.json();
  const challenge = response.headers.get("www-authenticate") ?? undefined;
  const renewed = await opened.renew({ status: response.status, challenge });
  return renewed === undefined ? response.status : (await send(renewed)).json();
}

const REFUSED = { status: 401, challenge: 'Bearer error="invalid_token"' };

describe.each(kinds)("accounts of a provider in a store of kind %s", (kind, makeLocation) => {
  /** What does not depend on simultaneous changes of a row is tested with PostgreSQL in the rest of the tests. */
  const options = kind === "sqlite" ? {} : { tags: "rest" };

  test("gives each caller its own tokens, and keeps them encrypted", options, async () => {
    const provider = await startOAuthProvider();
    const open = createOpen(makeLocation(), defineAccount(provider));
    const process = open();
    expect(await logIn(process, provider)).toMatchObject({ name: "shop", owner: ADA.id, label: "ada@example.com" });
    await logIn(process, provider, "bob", BOB.id);
    const [ada, bob] = [await openAccount(process), await openAccount(process, BOB)];
    expect(await callApi(provider, ada)).toEqual({ user: "ada" });
    expect(await callApi(provider, bob)).toEqual({ user: "bob" });
    expect(ada.title).toBe("shop (ada)");
    expect(process.secrets.mask(getToken(ada))).toBe(MASK);
    const other = open();
    expect(await callApi(provider, await openAccount(other))).toEqual({ user: "ada" });
    expect(other.secrets.mask(getToken(ada))).toBe(MASK);
    expect(await process.accounts.list({ id: "owner", seesAll: true })).toMatchObject([
      { owner: "owner", state: "missing" },
      { owner: ADA.id, state: "connected", label: "ada@example.com", scopes: ["openid", "read"] },
      { owner: BOB.id },
    ]);
  });

  test(
    "renews a token once for many requests of two processes, and keeps the rotated one",
    { tags: "rest" },
    async () => {
      const provider = await startOAuthProvider();
      const open = createOpen(makeLocation(), defineAccount(provider));
      const first = open();
      provider.accessSeconds = 60;
      await logIn(first, provider);
      provider.accessSeconds = 3_600;
      const later = (): number => Date.now() + 90_000;
      const processes = [open(later), open(later)] as const;
      const opened = await Promise.all(
        Array.from({ length: 20 }, (_, index) => openAccount(processes[index % 2 === 0 ? 0 : 1])),
      );
      expect(new Set(opened.map(getToken)).size).toBe(1);
      expect(provider.countRefreshes()).toBe(1);
      for (const account of opened) expect(await callApi(provider, account)).toEqual({ user: "ada" });
      provider.accessSeconds = 60;
      const last = open(() => Date.now() + 4_000_000);
      await openAccount(last);
      await openAccount(open(() => Date.now() + 4_000_100));
      expect(provider.countRefreshes()).toBe(2);
      expect(await callApi(provider, await openAccount(last))).toEqual({ user: "ada" });
    },
  );

  test("makes one refresh for all requests that were refused with the same token", options, async () => {
    const provider = await startOAuthProvider();
    const open = createOpen(makeLocation(), defineAccount(provider));
    const processes = [open(), open()] as const;
    await logIn(processes[0], provider);
    const opened = await Promise.all(
      Array.from({ length: 20 }, (_, index) => openAccount(processes[index % 2 === 0 ? 0 : 1])),
    );
    const renewed = await Promise.all(opened.map((account) => account.renew(REFUSED)));
    expect(new Set(renewed.map((account) => account && getToken(account))).size).toBe(1);
    expect(await opened[7]?.renew(REFUSED).then((account) => account && getToken(account))).toBe(
      renewed[0] && getToken(renewed[0]),
    );
    expect(provider.countRefreshes()).toBe(1);
    for (const account of renewed) expect(await callApi(provider, account as OpenAccount)).toEqual({ user: "ada" });
  });

  test("reports a refused refresh token to one process, and asks the provider for nothing more", options, async () => {
    const provider = await startOAuthProvider();
    const open = createOpen(makeLocation(), defineAccount(provider));
    const processes = [open(), open()] as const;
    await logIn(processes[0], provider);
    const opened = await Promise.all(processes.map((process) => openAccount(process)));
    await provider.withdraw("ada");
    const message =
      /shop \(ada\): its provider does not accept it any more \(127\.0\.0\.1:\d+ answers invalid_grant: .*\); .*connect/;
    const failed = await Promise.allSettled(opened.map((account) => callApi(provider, account)));
    for (const result of failed)
      expect(result).toMatchObject({ reason: { code: "ACCOUNT_RECONNECT", message: expect.stringMatching(message) } });
    expect(processes.flatMap(({ ended }) => ended)).toMatchObject([{ name: "shop", owner: ADA.id }]);
    expect(provider.countRefreshes()).toBe(1);
    await expect(openAccount(processes[1])).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
    expect(provider.countRefreshes()).toBe(1);
    await logIn(processes[1], provider);
    expect(await callApi(provider, await openAccount(processes[0]))).toEqual({ user: "ada" });
  });

  test("stores the rotated token before it is used, also if the row was changed meanwhile", async () => {
    const provider = await startOAuthProvider();
    const location = makeLocation();
    const open = createOpen(location, defineAccount(provider));
    const process = open();
    await logIn(process, provider);
    const account = await openAccount(process);
    const release = provider.hold();
    const renewing = account.renew(REFUSED);
    await expect.poll(() => provider.countRefreshes()).toBe(1);
    await process.accounts.rotate().catch(() => {}); // a variable has the key, so values are only encrypted again
    const database = createLazyDatabase(location);
    onTestFinished(() => database.close());
    const { accounts } = await database.open();
    const [row] = await accounts.list();
    expect(await accounts.update(row as never, { value: row?.value ?? "" })).toBe(true);
    release();
    const renewed = await renewing;
    expect(await callApi(provider, renewed as OpenAccount)).toEqual({ user: "ada" });
    expect(getToken(await openAccount(open()))).toBe(getToken(renewed as OpenAccount));
  });

  test("revokes tokens at the provider that were renewed while the connection was deleted", async () => {
    const provider = await startOAuthProvider();
    const open = createOpen(makeLocation(), defineAccount(provider));
    const [process, other] = [open(), open()];
    await logIn(process, provider);
    const account = await openAccount(process);
    const release = provider.hold();
    const renewing = account.renew(REFUSED);
    renewing.catch(() => {});
    await expect.poll(() => provider.countRefreshes()).toBe(1);
    expect(await other.accounts.revoke("shop", ADA.id)).toMatchObject({ isRevoked: true });
    release();
    await expect(renewing).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
    await expect(openAccount(process)).rejects.toMatchObject({ code: "ACCOUNT_MISSING" });
    expect(await callApi(provider, account).catch((error: unknown) => error)).toMatchObject({
      code: "ACCOUNT_RECONNECT",
    });
  });
});

const [, sqlite] = kinds[0] ?? [];

test("stores granted tokens with the next request if the first write of them fails, and asks the provider once", async () => {
  if (sqlite === undefined) throw new TypeError("There is no kind of store");
  const provider = await startOAuthProvider();
  const location = sqlite();
  const database = createLazyDatabase(location);
  let failures = 1;
  const failing = {
    async open() {
      const opened = await database.open();
      const update: typeof opened.accounts.update = async (account, changes) => {
        if (changes.value !== undefined && failures-- > 0) throw new Error("the disk is full");
        return opened.accounts.update(account, changes);
      };
      return { ...opened, accounts: { ...opened.accounts, update } };
    },
  };
  const variable = randomBytes(32).toString("base64");
  const keys = createKeySource({ variable, folder: undefined, store: "folder", lockMs: 1_000, onSecrets: () => {} });
  const secrets = new KnownSecrets();
  const definitions = [defineAccount(provider)];
  const accounts = createAccounts({ definitions, database: failing, keys, secrets, describeConnect });
  onTestFinished(async () => {
    accounts.close();
    await database.close();
  });
  const process = { accounts, secrets, ended: [] };
  await logIn(process, provider);
  const account = await openAccount(process);
  await expect(account.renew(REFUSED)).rejects.toThrow("the disk is full");
  const renewed = await account.renew(REFUSED);
  expect(provider.countRefreshes()).toBe(1);
  expect(await callApi(provider, renewed as OpenAccount)).toEqual({ user: "ada" });
  expect(getToken(await openAccount(process))).toBe(getToken(renewed as OpenAccount));
});

test("says why tokens may still be valid at the provider after a revocation", async () => {
  const provider = await startOAuthProvider();
  const revoke = async (more: Partial<OAuthDefinition>) =>
    (await openConnected(provider, more)).process.accounts.revoke("shop", ADA.id);
  expect(await revoke({})).toEqual({ isRevoked: true });
  expect(await revoke({ revocationUrl: `${provider.issuer}/nothing` })).toEqual({
    isRevoked: true,
    left: expect.stringMatching(/^127\.0\.0\.1:\d+ answers .*(status 404|invalid_request)/),
  });
});

/** Opens the accounts of a new store of one process, with a connection. */
async function openConnected(provider: TestProvider, more: Partial<OAuthDefinition> = {}) {
  if (sqlite === undefined) throw new TypeError("There is no kind of store");
  const open = createOpen(sqlite(), defineAccount(provider, more));
  const process = open();
  await logIn(process, provider);
  return { open, process };
}

test.each([
  [3_600, 3_530, 3_545],
  [60, 28, 32],
])("renews a token that is valid for %i s after %i s, and before %i s", async (seconds, before, after) => {
  const provider = await startOAuthProvider();
  provider.accessSeconds = seconds;
  const { open } = await openConnected(provider);
  await openAccount(open(() => Date.now() + before * 1_000));
  expect(provider.countRefreshes()).toBe(0);
  await openAccount(open(() => Date.now() + after * 1_000));
  expect(provider.countRefreshes()).toBe(1);
});

test("uses the old token while it is valid and the provider is down, and then says when to try again", async () => {
  const provider = await startOAuthProvider();
  provider.accessSeconds = 90;
  const { open } = await openConnected(provider);
  provider.fault = "down";
  const early = open(() => Date.now() + 50_000);
  expect(await callApi(provider, await openAccount(early))).toEqual({ user: "ada" });
  expect(await callApi(provider, await openAccount(early))).toEqual({ user: "ada" });
  expect(provider.countRefreshes()).toBe(1); // not asked again at once
  const late = open(() => Date.now() + 100_000);
  await expect(openAccount(late)).rejects.toMatchObject({
    code: "ACCOUNT_UNAVAILABLE",
    message: expect.stringMatching(/shop \(ada\): 127\.0\.0\.1:\d+ answers \/token with status 503; try again in 7 s/),
  });
  await expect(openAccount(late)).rejects.toMatchObject({ code: "ACCOUNT_UNAVAILABLE" });
  expect(provider.countRefreshes()).toBe(2);
  provider.fault = undefined;
  expect(await callApi(provider, await openAccount(open(() => Date.now() + 100_000)))).toEqual({ user: "ada" });
});

test("uses the old token while the provider is slow", { tags: "rest" }, async () => {
  const provider = await startOAuthProvider();
  provider.accessSeconds = 90;
  const { open } = await openConnected(provider);
  const release = provider.hold();
  const early = open(() => Date.now() + 50_000);
  const slow = await openAccount(early);
  expect(await callApi(provider, slow)).toEqual({ user: "ada" });
  release();
  await expect.poll(async () => getToken(await openAccount(early))).not.toBe(getToken(slow));
  expect(provider.countRefreshes()).toBe(1);
});

async function callWithWrongClock(shift: number): Promise<void> {
  const provider = await startOAuthProvider();
  if (sqlite === undefined) throw new TypeError("There is no kind of store");
  const open = createOpen(sqlite(), defineAccount(provider));
  const wrong = open(() => Date.now() + shift);
  await logIn(wrong, provider);
  for (let call = 0; call < 3; call++)
    expect(await callApi(provider, await openAccount(wrong))).toEqual({ user: "ada" });
  expect(provider.countRefreshes()).toBe(0);
  const right = open();
  for (let call = 0; call < 3; call++)
    expect(await callApi(provider, await openAccount(right))).toEqual({ user: "ada" });
  expect(provider.countRefreshes()).toBeLessThanOrEqual(1);
}

test.each([-86_400_000, 86_400_000])("works with a clock that is wrong by %i ms", callWithWrongClock);

test("renews a token that the service takes for one of another audience once, and makes no loop", async () => {
  const provider = await startOAuthProvider();
  const { process } = await openConnected(provider);
  provider.isApiRefusing = true;
  const call = async (): Promise<unknown> => callApi(provider, await openAccount(process));
  expect(await call()).toEqual({ error: "invalid_token" });
  expect(await call()).toBe(401);
  expect(await Promise.all([call(), call(), call()])).toEqual([401, 401, 401]);
  expect(provider.countRefreshes()).toBe(1);
  expect(process.ended).toEqual([]);
});

test.each(["twice", "graceful"] as const)(
  "uses one of the answers of a provider that answers a refresh twice: %s",
  async (fault) => {
    const provider = await startOAuthProvider();
    const { open, process } = await openConnected(provider);
    provider.fault = fault;
    const account = await openAccount(process);
    const renewed = await account.renew(REFUSED);
    expect(await callApi(provider, renewed as OpenAccount)).toEqual({ user: "ada" });
    expect(getToken(await openAccount(open()))).toBe(getToken(renewed as OpenAccount));
  },
);

test("needs a new login after the provider's answer to a refresh was lost", async () => {
  const provider = await startOAuthProvider();
  const { open, process } = await openConnected(provider);
  const account = await openAccount(process);
  provider.fault = "lost";
  await expect(account.renew(REFUSED)).rejects.toMatchObject({
    code: "ACCOUNT_UNAVAILABLE",
    message: expect.stringContaining("cannot be reached: ECONNRESET; try again in 5 s"),
  });
  provider.fault = undefined;
  const other = open();
  await expect((await openAccount(other)).renew(REFUSED)).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
  expect(other.ended).toMatchObject([
    { why: expect.stringMatching(/does not accept it any more .* answers invalid_grant/) },
  ]);
});

test("reports the scopes that the service asks for", async () => {
  const provider = await startOAuthProvider();
  const { process } = await openConnected(provider);
  await expect(callApi(provider, await openAccount(process), "admin")).rejects.toMatchObject({
    code: "ACCOUNT_SCOPES",
    message: expect.stringContaining(
      'shop (ada) has the scopes "openid read", and the service asks for "read admin"; the owner of the server connects it: skillgate account connect shop --caller ada --scopes read admin',
    ),
  });
  expect(provider.countRefreshes()).toBe(0);
});

test("requests tokens for the client itself without a connection, and others when they end", async () => {
  const provider = await startOAuthProvider();
  if (sqlite === undefined) throw new TypeError("There is no kind of store");
  const service = { grant: "client", clientId: "service", isPerCaller: false, scopes: [] } as const;
  let now = Date.now();
  const process = createOpen(sqlite(), defineAccount(provider, service))(() => now);
  const opened = await Promise.all([openAccount(process), openAccount(process, BOB), openAccount(process)]);
  expect(provider.requests).toEqual(["client_credentials"]);
  expect(await callApi(provider, opened[1])).toEqual({ user: "service" });
  now += 3_590_000;
  await Promise.all([openAccount(process), openAccount(process)]);
  expect(provider.requests).toHaveLength(2);
  await Promise.all(opened.map((account) => account.renew(REFUSED)));
  expect(provider.requests).toHaveLength(2); // the second token was not refused
});
