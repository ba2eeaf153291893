import { expect, test } from "vitest";

import { Cancellation } from "../../sandbox/index.ts";
import { type Caller, OWNER } from "../../src/model/caller.ts";
import type { CheckedQuery, MethodDefinition, MethodMetadata, ProvidedSkill } from "../../src/model/skill.ts";
import { createPolicy } from "../../src/policy/index.ts";
import { parsePolicy } from "../../src/policy/rows.ts";
import { createRegistry } from "../../src/registry/index.ts";
import {
  type AuditEntry,
  type Call,
  type CallToApprove,
  createRouter,
  type RouterOptions,
} from "../../src/router/index.ts";
import { createValidator } from "../../src/validation/index.ts";

/** A query language whose texts are the names of parts, with spaces between them. */
async function checkText(text: string): Promise<CheckedQuery> {
  const parts = text.split(" ").map((word) => `mutate:${word}`);
  const at = text.indexOf("wrong");
  if (at < 0) return { problems: [], parts };
  const range = [at, at + 5] as const;
  return { problems: [{ message: "Cannot find wrong", range, suggestions: ["read"] }], parts: [] };
}

function toPart(name: string, metadata: Partial<MethodMetadata> = {}): MethodDefinition {
  return { name: `mutate:${name}`, partOf: "mutate", description: "", input: { type: "object" }, metadata };
}

const SHOP: ProvidedSkill = {
  name: "ShopGraph",
  description: "",
  source: "test",
  kind: "api",
  methods: [
    {
      name: "mutate",
      description: "",
      input: { type: "object", properties: { query: { type: "string" }, variables: { type: "object" } } },
      metadata: { openWorld: true },
      queryText: { argument: "query", variables: "variables", check: checkText },
    },
  ],
  parts: [toPart("read", { readOnly: true }), toPart("order"), toPart("remove", { destructive: true })],
  invoke: async (_method, input) => input,
};

interface Bench {
  readonly entries: () => readonly AuditEntry[];
  readonly asked: CallToApprove[];
  readonly send: (text: string, caller?: Caller) => Promise<unknown>;
}

function openBench(rows = "", options: Partial<RouterOptions> = {}): Bench {
  const registry = createRegistry();
  registry.register(SHOP);
  const { rows: parsed, flows } = parsePolicy(rows, "tools.yaml");
  const policy = createPolicy({ rows: parsed, flows, roles: new Map(), asksDestructive: true, onlyTightens: false });
  const asked: CallToApprove[] = [];
  const router = createRouter({
    validator: createValidator(),
    getPolicy: () => policy,
    approve: (request) => asked.push(request) > 0,
    ...options,
  });
  const send = async (text: string, caller: Caller = OWNER): Promise<unknown> => {
    const catalog = registry.viewFor(caller);
    const [skill, method] = [catalog.skill("ShopGraph"), catalog.method("ShopGraph.mutate")];
    if (skill === undefined || method === undefined) throw new Error("not in the view");
    const call: Call = {
      id: 1,
      runId: "run-1",
      caller,
      skill,
      method,
      args: [text],
      cancellable: new Cancellation(),
      log: () => undefined,
      progress: () => undefined,
      addNote: () => undefined,
      onEnded: () => undefined,
    };
    return router.route(call);
  };
  return { entries: () => router.entries(), asked, send };
}

const withRights = (...permissions: string[]): Caller => ({ id: "ada", permissions });

test("asks by the parts of a query, the strictest of several deciding, and names them", async () => {
  const { asked, send, entries } = openBench("ShopGraph.mutate:order: { requires_approval: true }");
  await send("read");
  expect(asked).toEqual([]);
  await send("read order");
  expect(asked).toMatchObject([{ path: "ShopGraph.mutate:order,read", approval: "user" }]);
  await send("remove");
  expect(asked[1]).toMatchObject({ path: "ShopGraph.mutate:remove" });
  expect(entries().map(({ path }) => path)).toEqual([
    "ShopGraph.mutate:read",
    "ShopGraph.mutate:order,read",
    "ShopGraph.mutate:remove",
  ]);
});

test("a row for a part counts before one for its method, and that before one for the skill", async () => {
  const rows = `
"*Graph.*": { decision: deny }
ShopGraph.mutate: { requires_approval: true }
ShopGraph.mutate:remove: { decision: allow }
`;
  const { asked, send } = openBench(rows);
  await send("remove");
  expect(asked).toEqual([]);
  await send("order");
  expect(asked).toMatchObject([{ path: "ShopGraph.mutate:order" }]);
});

test("denies a query with one part that the policy denies", async () => {
  const { send, entries } = openBench('"ShopGraph.mutate:rem*": { decision: deny }');
  await expect(send("read remove")).rejects.toThrow(
    "Cannot call a method that the policy denies: ShopGraph.mutate:remove, because tools.yaml line 1 denies it",
  );
  expect(await send("read")).toEqual({ query: "read" });
  expect(entries()[0]).toMatchObject({
    decision: "refused",
    code: "POLICY_DENIED",
    path: "ShopGraph.mutate:read,remove",
  });
});

test("a method that is denied is denied with all its parts", async () => {
  const { send } = openBench("ShopGraph.mutate: { decision: deny }\nShopGraph.mutate:read: { decision: allow }");
  await expect(send("read")).rejects.toMatchObject({ code: "POLICY_DENIED" });
});

test("a right to a method has its parts, a right to a part opens the method for it alone", async () => {
  const { send } = openBench();
  expect(await send("read order", withRights("call:ShopGraph.mutate"))).toEqual({ query: "read order" });
  const reader = withRights("call:ShopGraph.mutate:read");
  expect(await send("read", reader)).toEqual({ query: "read" });
  await expect(send("read order", reader)).rejects.toThrow(
    'ShopGraph.mutate:order, because the caller "ada" has no call:ShopGraph.mutate:order',
  );
  const seer = withRights("call:ShopGraph.mutate:read", "see:ShopGraph.*");
  await expect(send("order", seer)).rejects.toMatchObject({ code: "PERMISSION_MISSING" });
});

test("a profile that excepts a part, or a method, has neither", async () => {
  const { send } = openBench();
  const withProfile = (except: readonly string[]): Caller => ({
    ...withRights("call:*"),
    profile: { name: "small", permissions: ["call:ShopGraph.*"], except, tools: {} },
  });
  expect(await send("read", withProfile(["ShopGraph.mutate:remove"]))).toEqual({ query: "read" });
  await expect(send("remove", withProfile(["ShopGraph.mutate:remove"]))).rejects.toMatchObject({
    code: "PERMISSION_MISSING",
  });
  await expect(send("read", withProfile(["ShopGraph.mutate"]))).rejects.toThrow("not in the view");
});

test("refuses a query with a mistake before a person is asked, with its place in the text", async () => {
  const { asked, send, entries } = openBench("ShopGraph.mutate: { requires_approval: true }");
  await expect(send("read\nwrong")).rejects.toThrow(
    "Cannot send this query: ShopGraph.mutate: line 2, column 1 of the text: Cannot find wrong (QUERY_INVALID)",
  );
  expect(asked).toEqual([]);
  expect(entries()).toMatchObject([{ decision: "refused", code: "QUERY_INVALID" }]);
});

test("counts the limits of each part, whatever else the query has", async () => {
  const { send } = openBench("ShopGraph.mutate:order: { rate_limit: 2 }");
  await send("order");
  await send("read order");
  await expect(send("order")).rejects.toThrow('"ShopGraph.mutate:order" allows 2 calls per minute');
  expect(await send("read")).toEqual({ query: "read" });
});

test("a call does not contain a part with a limit several times", async () => {
  const { send, entries } = openBench(
    "ShopGraph.mutate:order: { rate_limit: 2 }\nShopGraph.mutate:remove: { cooldown_seconds: 60 }",
  );
  for (const text of ["order order", "remove read remove"])
    await expect(send(text)).rejects.toThrow("are limited: contain it once, and write a call for each");
  expect(await send("read read order")).toEqual({ query: "read read order" });
  expect(entries().map(({ code }) => code)).toEqual(["QUERY_INVALID", "QUERY_INVALID", undefined]);
});
