import { expect, test } from "vitest";

import { SkillgateError } from "../../src/errors.ts";
import type { Account, OpenAccount } from "../../src/model/account.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { type CallToApprove, createRouter, type RouterOptions } from "../../src/router/index.ts";
import { createValidator } from "../../src/validation/index.ts";
import { TestAccounts } from "../accounts/test-accounts.ts";
import { ADA, BOB, benchWith, promised, type Setup } from "./calls.ts";

const validator = createValidator();

function routerWith(accounts: TestAccounts, options: Partial<RouterOptions> = {}): ReturnType<typeof createRouter> {
  return createRouter({ validator, accounts, ...options });
}

const withGithub = (setup: Setup = {}): ReturnType<typeof benchWith> =>
  benchWith({ kind: "api", accounts: ["github"], ...setup });

/** A method that answers with the id and the value of its connection. */
const opens: ProvidedSkill["invoke"] = async (_method, _input, { openAccount }) => {
  const { id, credential }: Partial<OpenAccount> = (await openAccount?.("github")) ?? {};
  return [id, credential?.[0]?.value];
};

test("opens the connection of the caller for an API, and for no skill of another kind", async () => {
  const accounts = new TestAccounts({ github: { values: { ada: "a1", bob: "b1" } } });
  const { route } = routerWith(accounts);
  const { call } = withGithub({ run: opens });
  expect(await route(call([], { caller: ADA }))).toEqual(["connection-1", "Bearer a1"]);
  expect(await route(call([], { caller: BOB }))).toEqual(["connection-2", "Bearer b1"]);
  const code = withGithub({ kind: "code", run: opens });
  expect(await route(code.call([], { caller: ADA }))).toEqual([undefined, undefined]);
});

test("refuses a call without a connection before a person is asked, and looks once in the store", async () => {
  const accounts = new TestAccounts({ github: { values: {} } });
  const asked: CallToApprove[] = [];
  const approve = (request: CallToApprove): boolean => asked.push(request) > 0;
  const router = routerWith(accounts, { approve });
  const { route } = router;
  const { call } = withGithub({ run: opens, metadata: { approval: "user" } });
  await expect(route(call([], { caller: ADA }))).rejects.toMatchObject({
    code: "ACCOUNT_MISSING",
    message: expect.stringContaining("skillgate account connect github --caller ada"),
  });
  expect(asked).toEqual([]);
  expect(router.entries()).toMatchObject([{ decision: "refused", code: "ACCOUNT_MISSING" }]);
  accounts.elsewhere.push(() => accounts.connect("github", "ada", "a1"));
  expect(await route(call([], { caller: ADA }))).toEqual(["connection-1", "Bearer a1"]);
  expect(asked).toMatchObject([{ accounts: ["github (ada)"] }]);
  expect(router.entries()[1]).toMatchObject({ decision: "allowed", accounts: ["github (ada)"] });
});

test("records the refusal of a call whose account must be connected again, and no refusal if its service says so", async () => {
  const accounts = new TestAccounts({ github: { values: { ada: "a1" } } });
  const error = (): SkillgateError => new SkillgateError("ACCOUNT_RECONNECT", "It must be connected again");
  const usable = {
    refresh: async () => {},
    find(name: string): Account | undefined {
      const account = accounts.find(name);
      const refuse = (): never => {
        throw error();
      };
      return account && { ...account, getId: refuse };
    },
  };
  const { call } = withGithub({ run: opens });
  const router = createRouter({ validator, accounts: usable });
  await expect(router.route(call([], { caller: ADA }))).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
  expect(router.entries()).toMatchObject([{ decision: "refused", outcome: "refused", code: "ACCOUNT_RECONNECT" }]);
  const other = routerWith(accounts);
  const late = withGithub({ run: () => Promise.reject(error()) });
  await expect(other.route(late.call([], { caller: ADA }))).rejects.toMatchObject({ code: "ACCOUNT_RECONNECT" });
  expect(other.entries()).toMatchObject([{ decision: "allowed", outcome: "error", code: "ACCOUNT_RECONNECT" }]);
});

test("names the setting for an account that the settings do not have", async () => {
  const { route } = routerWith(new TestAccounts({}));
  await expect(route(withGithub().call([], { caller: ADA }))).rejects.toThrow(
    "TestSkill.try uses the account github, which the settings do not have; the owner writes it: accounts: { github: … }",
  );
});

test("caches results for one connection [P9]", async () => {
  const accounts = new TestAccounts({ github: { values: { ada: "a1" } } });
  const { route } = routerWith(accounts);
  const { call } = withGithub({ run: opens, metadata: { cacheTtlSeconds: 60, readOnly: true } });
  const read = (): Promise<unknown> => route(call([], { caller: ADA }));
  expect([await read(), await read()]).toEqual([
    ["connection-1", "Bearer a1"],
    ["connection-1", "Bearer a1"],
  ]);
  accounts.connect("github", "ada", "a2");
  expect(await read()).toEqual(["connection-2", "Bearer a2"]);
  accounts.revoke("github", "ada");
  await expect(read()).rejects.toMatchObject({ code: "ACCOUNT_MISSING" });
});

test("does not use a yes for one connection with another that has replaced it meanwhile [P6]", async () => {
  const accounts = new TestAccounts({ github: { values: { ada: "a1" } } });
  const digests: string[] = [];
  const answer = promised<boolean>();
  const { route } = routerWith(accounts, {
    approve: (_request, { digest }) => {
      digests.push(digest);
      return answer.promise;
    },
  });
  const { call } = withGithub({ run: opens, metadata: { approval: "user" } });
  const first = route(call([], { caller: ADA }));
  await expect.poll(() => digests.length).toBe(1);
  accounts.connect("github", "ada", "a2");
  await expect(first).rejects.toMatchObject({
    code: "CALL_CANCELLED",
    message: expect.stringContaining("the account github (ada) was replaced"),
  });
  answer.resolve(true);
  expect(await route(call([], { caller: ADA }))).toEqual(["connection-2", "Bearer a2"]);
  expect(new Set(digests).size).toBe(2);
});

test("cancels the calls under way of a connection that is revoked, and no others", async () => {
  const accounts = new TestAccounts({ github: { values: { ada: "a1", bob: "b1" } } });
  const { route } = routerWith(accounts);
  const signals: AbortSignal[] = [];
  const go = promised<string>();
  const { call } = withGithub({
    run: async (_method, _input, { signal }) => {
      signals.push(signal);
      return go.promise;
    },
  });
  const [ofAda, ofBob] = [route(call([], { caller: ADA })), route(call([], { caller: BOB }))];
  await expect.poll(() => signals.length).toBe(2);
  accounts.revoke("github", "ada");
  await expect(ofAda).rejects.toThrow("TestSkill.try; the account github (ada) was revoked");
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  go.resolve("done");
  expect(await ofBob).toBe("done");
});
