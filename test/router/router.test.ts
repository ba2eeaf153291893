import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import { cancellableBy } from "../../sandbox/index.ts";
import { SkillgateError } from "../../src/errors.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { Skill } from "../../src/model/catalog.ts";
import { type MethodRule, NO_POLICY, type Policy } from "../../src/model/policy.ts";
import type { CallContext } from "../../src/model/skill.ts";
import {
  createRouter,
  runCalls,
  type AuditEntry,
  type CallToApprove,
  type RouterOptions,
} from "../../src/router/index.ts";
import { hashValue } from "../../src/shared/digest.ts";
import { KnownSecrets } from "../../src/shared/secrets.ts";
import { createStore } from "../../src/store/index.ts";
import { createValidator } from "../../src/validation/index.ts";
import { ADA, BOB, benchWith, promised, type Setup } from "./calls.ts";

const validator = createValidator();

function routerWith(options: Partial<RouterOptions> = {}): ReturnType<typeof createRouter> {
  return createRouter({ validator, ...options });
}

/** A policy that changes the rule of every method. */
const withRule = (rule: Partial<MethodRule>): Policy => ({
  ...NO_POLICY,
  getRule: (method) => ({ ...NO_POLICY.getRule(method), ...rule }),
});

/** A router whose clock stands until it is moved. */
function clocked(
  setup: Setup,
): ReturnType<typeof benchWith> & ReturnType<typeof createRouter> & { readonly wait: (seconds: number) => void } {
  let now = 1_000_000;
  return { ...benchWith(setup), ...routerWith({ now: () => now }), wait: (seconds) => void (now += seconds * 1_000) };
}

describe("passes a call to its method [S1, X1]", () => {
  test("with named arguments and defaults", async () => {
    const { call } = benchWith({ input: { properties: { a: {}, b: { default: 2 } }, required: ["a"] } });
    expect(await routerWith().route(call([1]))).toEqual({ a: 1, b: 2 });
  });

  test("with the facts that the method may know [L3]", async () => {
    const seen: CallContext[] = [];
    const { call, told } = benchWith({
      run: (_, input, context) => {
        seen.push(context);
        context.log("info", "half");
        context.progress(1, 2);
        return Promise.resolve(input);
      },
    });
    const store = createStore().space("test");
    const getResources = ({ name }: Skill) => ({ settings: { of: name }, secrets: { key: "s3cret" }, store });
    await routerWith({ getResources }).route(call([], { caller: ADA, id: 7 }));
    seen[0]?.log("info", "late");
    seen[0]?.progress(2, 2);
    expect(seen).toMatchObject([{ caller: ADA, runId: "run-1", callId: "run-1/7", settings: { of: "TestSkill" } }]);
    expect(seen).toMatchObject([{ secrets: { key: "s3cret" }, store }]);
    expect(told).toMatchObject({ logs: ["half"], progress: [1] });
  });

  test("and fails the call if its result is far too large when written out [L10]", { tags: "rest" }, async () => {
    let all: unknown = ["lol"];
    for (let times = 0; times < 30; times++) all = { left: all, right: all };
    const { call } = benchWith({ run: async () => all });
    await expect(routerWith().route(call([]))).rejects.toMatchObject({
      code: "CALL_FAILED",
      message: 'Cannot complete the call: "TestSkill.try" returned more than 2 million values (CALL_FAILED)',
    });
  });

  test("refuses invalid arguments before they reach the method [T6]", async () => {
    const run = vi.fn();
    const { call } = benchWith({ run, input: { properties: { a: { type: "number" } }, required: ["a"] } });
    await expect(routerWith().route(call([{ b: 1 }]))).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message:
        'Cannot call a method with these arguments: "a" is required; "b" is not an argument, valid are a; use TestSkill.try(a: number) (ARGUMENTS_INVALID)',
      facts: { skill: "TestSkill", method: "try", problems: [{ field: "a" }, { field: "b" }] },
    });
    expect(run).not.toHaveBeenCalled();
  });

  test("notes the part of a schema that cannot be checked [T6]", async () => {
    const { call, told } = benchWith({ input: { properties: { a: { type: "strng" } } } });
    await routerWith().route(call([1]));
    expect(told.notes).toEqual([expect.stringContaining("TestSkill.try: part of its schema cannot be checked")]);
  });

  test("returns a result that does not match, with a note [X1]", async () => {
    const { call, told } = benchWith({ run: () => Promise.resolve("x"), output: { type: "number" } });
    expect(await routerWith().route(call([]))).toBe("x");
    expect(told.notes).toEqual([
      'The result of TestSkill.try does not match its output schema: it must be a number, not "x"',
    ]);
  });
});

test("compares a date in a result as the text that it is in JSON [X1]", async () => {
  const output = { type: "object", properties: { at: { type: "string", format: "date-time" } }, required: ["at"] };
  const { call, told } = benchWith({ run: async () => ({ at: new Date(0) }), output });
  expect(await routerWith().route(call([]))).toEqual({ at: new Date(0) });
  expect(told.notes).toEqual([]);
});

describe("permissions [P2]", () => {
  test("keeps a call without its grant from the method", async () => {
    const run = vi.fn();
    const { call } = benchWith({ run });
    await expect(
      routerWith().route(call([], { caller: { id: "eve", permissions: ["call:Other.*"] } })),
    ).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
      message:
        'Cannot call a method without its permission: TestSkill.try, because the caller "eve" has no call:TestSkill.try (PERMISSION_MISSING)',
    });
    expect(run).not.toHaveBeenCalled();
  });

  test("names the key or the profile that does not have a method", async () => {
    const { call } = benchWith();
    const refuse = (caller: Caller) => expect(routerWith().route(call([], { caller }))).rejects;
    const id = "key:bob:0123456789ab";
    await refuse({ id, permissions: [] }).toThrow(", because the key bob has no call:TestSkill.try (");
    const profile = { name: "reading", permissions: ["call:Other.*"], except: [], tools: {} };
    await refuse({ id, permissions: ["call:*"], profile }).toThrow(
      ", because the profile reading has no call:TestSkill.try (",
    );
    await refuse({ id, permissions: [], profile }).toThrow(", because the key bob has no call:TestSkill.try (");
  });

  const scoped: Setup = { metadata: { requiredScopes: ["mail:read", "mail:send"] } };

  test("keeps a call from the method if its caller lacks one of the required scopes [P3]", async () => {
    const run = vi.fn();
    const { call } = benchWith({ ...scoped, run });
    const message = (missing: string) =>
      `Cannot call a method without its permission: TestSkill.try, because the caller "ada" lacks ${missing}, which the method requires (PERMISSION_MISSING)`;
    await expect(routerWith().route(call([], { caller: ADA }))).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
      message: message("the scopes mail:read, mail:send"),
    });
    const reader: Caller = { ...ADA, scopes: ["mail:read"] };
    await expect(routerWith().route(call([], { caller: reader }))).rejects.toThrow(message("the scope mail:send"));
    expect(run).not.toHaveBeenCalled();
  });

  test("passes a call whose caller holds all scopes, itself, by a pattern or by a role [P3]", async () => {
    const roles = new Map([["sender", ["mail:send"]]]);
    const router = routerWith({ getPolicy: () => ({ ...NO_POLICY, roles }) });
    const { call } = benchWith(scoped);
    const holders: readonly Partial<Caller>[] = [
      { scopes: ["mail:read", "mail:send"] },
      { scopes: ["mail:*"] },
      { scopes: ["mail:read"], roles: ["guest", "sender"] },
    ];
    for (const holder of holders) expect(await router.route(call([], { caller: { ...ADA, ...holder } }))).toEqual({});
    expect(await router.route(call([]))).toEqual({});
    const stranger: Caller = { ...ADA, scopes: ["mail:read"], roles: ["guest"] };
    await expect(router.route(call([], { caller: stranger }))).rejects.toThrow("lacks the scope mail:send");
  });

  test("keeps a call that the policy denies from the method, and names the line that denies it [P4]", async () => {
    const run = vi.fn();
    const { call, told } = benchWith({ run });
    const router = routerWith({
      getPolicy: () => withRule({ decision: "deny", row: "TestSkill.*", place: "policies/tools.yaml line 3" }),
    });
    await expect(router.route(call([1]))).rejects.toMatchObject({
      code: "POLICY_DENIED",
      message:
        "Cannot call a method that the policy denies: TestSkill.try, because policies/tools.yaml line 3 denies it (POLICY_DENIED)",
    });
    expect(run).not.toHaveBeenCalled();
    expect(told.entries).toMatchObject([{ decision: "refused", code: "POLICY_DENIED", policyRow: "TestSkill.*" }]);
  });

  test("keeps a call of a disabled skill from the method [L7]", async () => {
    const run = vi.fn();
    const { call } = benchWith({ run });
    await expect(routerWith({ isDisabled: (skill) => skill === "TestSkill" }).route(call([]))).rejects.toMatchObject({
      code: "SKILL_DISABLED",
      message: "Skill 'TestSkill' is disabled",
    });
    expect(run).not.toHaveBeenCalled();
  });
});

describe("approvals [P6]", () => {
  const setup: Setup = {
    input: { properties: { to: { type: "string" }, amount: { default: 1 } }, required: ["to"] },
    metadata: { approval: "user" },
  };

  test("requests approval of exactly the input that the method receives", async () => {
    const requests: CallToApprove[] = [];
    const { call } = benchWith(setup);
    const { route } = routerWith({ approve: (request) => requests.push(request) > 0 });
    expect(await route(call(["bob"], { caller: ADA }))).toEqual({ to: "bob", amount: 1 });
    const input = { to: "bob", amount: 1 };
    expect(requests).toEqual([
      {
        caller: ADA,
        path: "TestSkill.try",
        input,
        argumentsDigest: hashValue(input),
        runId: "run-1",
        approval: "user",
      },
    ]);
  });

  test("keeps an approver from changing the call", async () => {
    const { call } = benchWith(setup);
    const { route } = routerWith({ approve: ({ input }) => Reflect.set(input, "to", "eve") });
    expect(await route(call(["bob"]))).toEqual({ to: "bob", amount: 1 });
  });

  test.each<[string, RouterOptions["approve"]]>([
    ["nobody is there", undefined],
    ["the answer is no", () => false],
    ["the answer is no yes", () => "yes" as unknown as boolean],
    ["the answer fails", () => Promise.reject(new Error("gone"))],
  ])("keeps a call without approval from the method: %s", async (_, approve) => {
    const run = vi.fn();
    const { call } = benchWith({ ...setup, run });
    await expect(routerWith(approve && { approve }).route(call(["bob"], { caller: ADA }))).rejects.toMatchObject({
      code: "APPROVAL_MISSING",
      message: 'Cannot call a method without an approval: caller "ada" calls "TestSkill.try" (APPROVAL_MISSING)',
    });
    expect(run).not.toHaveBeenCalled();
  });

  test("requests no approval for invalid arguments or for a caller without permission", async () => {
    const approve = vi.fn(() => true);
    const { call } = benchWith(setup);
    const { route } = routerWith({ approve });
    await expect(route(call([5]))).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    await expect(route(call(["bob"], { caller: { id: "eve", permissions: [] } }))).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
    });
    expect(approve).not.toHaveBeenCalled();
  });

  test("ends the call when the run ends during an approval", async () => {
    const controller = new AbortController();
    const { call } = benchWith(setup);
    const asked = promised<true>();
    const { route } = routerWith({ approve: () => (asked.resolve(true), new Promise<boolean>(() => {})) });
    const answer = route(call(["bob"], { cancellable: cancellableBy(controller.signal) }));
    await asked.promise;
    controller.abort();
    await expect(answer).rejects.toMatchObject({ code: "CALL_CANCELLED" });
  });

  test("does not count the approval towards the timeout of the method", async () => {
    const { call } = benchWith({ ...setup, metadata: { approval: "admin", timeoutMs: 20 } });
    const { route } = routerWith({ approve: () => new Promise((resolve) => setTimeout(resolve, 60, true)) });
    expect(await route(call(["bob"]))).toEqual({ to: "bob", amount: 1 });
  });
});

describe("cooldowns [X4]", () => {
  const setup: Setup = { input: { properties: { a: { type: "number" } } }, metadata: { cooldownSeconds: 5 } };

  test("states the time to wait", async () => {
    const { route, call, wait } = clocked(setup);
    await route(call([1]));
    wait(1.66);
    await expect(route(call([1]))).rejects.toMatchObject({
      code: "COOLDOWN",
      message: "Tool on cooldown. Wait 3.4s",
      facts: { skill: "TestSkill", method: "try", retryAfterSeconds: 3.4 },
    });
    wait(3.33);
    await expect(route(call([1]))).rejects.toThrow("Tool on cooldown. Wait 0.1s");
    wait(0.01);
    expect(await route(call([1]))).toEqual({ a: 1 });
  });

  test("has one for each caller; calls without a caller share one", async () => {
    const { route, call } = clocked(setup);
    await route(call([1], { caller: ADA }));
    expect(await route(call([1], { caller: BOB }))).toEqual({ a: 1 });
    await route(call([1], { runId: "run-1" }));
    await expect(route(call([1], { runId: "run-2" }))).rejects.toMatchObject({ code: "COOLDOWN" });
  });

  test("is not consumed by refused and invalid calls, but by failed ones [X1]", async () => {
    let fails = true;
    const { route, call } = clocked({
      ...setup,
      run: () => (fails ? Promise.reject(new Error("no")) : Promise.resolve(1)),
    });
    await expect(route(call(["x"]))).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
    await expect(route(call([1], { caller: { id: "owner", permissions: [] } }))).rejects.toMatchObject({
      code: "PERMISSION_MISSING",
    });
    await expect(route(call([1]))).rejects.toMatchObject({ code: "CALL_FAILED" });
    fails = false;
    await expect(route(call([1]))).rejects.toMatchObject({ code: "COOLDOWN" });
  });

  test("lets one of several simultaneous calls through", async () => {
    const { route, call } = clocked(setup);
    const answers = await Promise.allSettled([route(call([1])), route(call([1])), route(call([1]))]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  });
});

describe("rate limits [P5]", () => {
  test("limit the calls in any minute, over all callers", async () => {
    const { route, call, wait } = clocked({ metadata: { rateLimit: 2 } });
    await route(call([1], { caller: ADA }));
    wait(50);
    await route(call([1], { caller: BOB }));
    await expect(route(call([1], { caller: ADA }))).rejects.toMatchObject({
      code: "RATE_LIMIT",
      message: 'Rate limit exceeded: "TestSkill.try" allows 2 calls per minute; wait 10.0s (RATE_LIMIT)',
      facts: { retryAfterSeconds: 10 },
    });
    wait(10);
    expect(await route(call([1]))).toEqual({ value: 1 });
    await expect(route(call([1]))).rejects.toThrow("wait 50.0s");
  });

  test("do not count a call that another limit refuses [X1]", async () => {
    const { route, call, wait } = clocked({ metadata: { rateLimit: 2, cooldownSeconds: 1 } });
    await route(call([1]));
    for (let at = 0; at < 5; at++) await expect(route(call([1]))).rejects.toMatchObject({ code: "COOLDOWN" });
    wait(1);
    expect(await route(call([1]))).toEqual({ value: 1 });
  });
});

describe("limits of the policy [P4, P5]", () => {
  test("replace those of the method", async () => {
    const { call } = benchWith({ metadata: { rateLimit: 1, cooldownSeconds: 9 }, run: () => new Promise(() => {}) });
    const rule = { rateLimit: 0, cooldownSeconds: 0, timeoutMs: 20 };
    const { route } = routerWith({ getPolicy: () => withRule(rule) });
    for (let time = 0; time < 2; time++)
      await expect(route(call([]))).rejects.toMatchObject({ code: "CALL_TIMEOUT", facts: { timeoutMs: 20 } });
  });

  test("are counted by the given counter, also by one that answers later", async () => {
    const windows: unknown[] = [];
    const counter: NonNullable<RouterOptions["counter"]> = {
      async take(wanted) {
        windows.push(...wanted.map(({ key, maxCalls, lengthMs }) => ({ key, maxCalls, lengthMs })));
        return Promise.resolve(windows.length > 2 ? { index: 1, waitMs: 1_240 } : undefined);
      },
    };
    const { call } = benchWith({ metadata: { rateLimit: 5, cooldownSeconds: 2 } });
    const { route } = routerWith({ counter });
    expect(await route(call([1], { caller: ADA }))).toEqual({ value: 1 });
    expect(windows).toEqual([
      { key: '["cooldown","TestSkill.try","ada"]', maxCalls: 1, lengthMs: 2_000 },
      { key: '["rate","TestSkill.try"]', maxCalls: 5, lengthMs: 60_000 },
    ]);
    await expect(route(call([1], { caller: ADA }))).rejects.toMatchObject({
      code: "RATE_LIMIT",
      facts: { retryAfterSeconds: 1.3 },
    });
  });
});

describe("timeouts [X2]", () => {
  const rejections: unknown[] = [];
  const listen = (reason: unknown): number => rejections.push(reason);
  beforeEach(() => void process.on("unhandledRejection", listen));
  afterEach(() => {
    process.off("unhandledRejection", listen);
    expect(rejections.splice(0)).toEqual([]);
  });

  test("abort the signal of a method that takes too long, and end its call", async () => {
    const signals: AbortSignal[] = [];
    const { call, told } = benchWith({
      metadata: { timeoutMs: 30 },
      run: (_, __, { signal }) => (signals.push(signal), new Promise(() => {})),
    });
    await expect(routerWith().route(call([]))).rejects.toMatchObject({
      code: "CALL_TIMEOUT",
      message: "Tool 'TestSkill.try' timed out after 0.03s",
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(told.entries).toMatchObject([{ outcome: "error", code: "CALL_TIMEOUT" }]);
  });

  test("ignore what an abandoned method does later", async () => {
    const later = promised<true>();
    const { call, told } = benchWith({
      metadata: { timeoutMs: 10 },
      run: async (_, __, context) => {
        await later.promise;
        context.log("info", "late");
        throw new Error("late");
      },
    });
    await expect(routerWith().route(call([]))).rejects.toMatchObject({ code: "CALL_TIMEOUT" });
    later.resolve(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(told.logs).toEqual([]);
    expect(told.entries).toHaveLength(1);
  });

  test("cancel the calls of a run at its end, including later ones", async () => {
    const controller = new AbortController();
    const started = promised<AbortSignal>();
    const { call, told } = benchWith({ run: (_, __, { signal }) => (started.resolve(signal), new Promise(() => {})) });
    const { route } = routerWith();
    const answer = route(call([], { cancellable: cancellableBy(controller.signal) }));
    const signal = await started.promise;
    controller.abort();
    const cancelled = {
      code: "CALL_CANCELLED",
      message: "Cannot complete a call whose run has ended: TestSkill.try (CALL_CANCELLED)",
    };
    await expect(answer).rejects.toMatchObject(cancelled);
    expect(signal.aborted).toBe(true);
    await expect(route(call([], { cancellable: cancellableBy(controller.signal) }))).rejects.toMatchObject(cancelled);
    expect(told.entries.map(({ outcome }) => outcome)).toEqual(["unfinished", "unfinished"]);
  });

  test("leave no listener and raise no warning after many calls of one run", async () => {
    const warnings: unknown[] = [];
    const warn = (warning: unknown): number => warnings.push(warning);
    process.on("warning", warn);
    const { signal } = new AbortController();
    const { call } = benchWith();
    const { route } = routerWith();
    await Promise.all(
      Array.from({ length: 50 }, (_, id) => route(call([id], { id, cancellable: cancellableBy(signal) }))),
    );
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });
});

describe("the cache [X5]", () => {
  function counting(more: Partial<Setup> = {}): ReturnType<typeof clocked> {
    let count = 0;
    return clocked({ metadata: { cacheTtlSeconds: 10 }, run: () => Promise.resolve({ count: ++count }), ...more });
  }

  test("answers the same call of the same caller in any order of keys until it expires", async () => {
    const { route, call, wait, told } = counting();
    expect(await route(call([{ value: { a: 1, b: 2 } }], { caller: ADA }))).toEqual({ count: 1 });
    wait(9);
    expect(await route(call([{ value: { b: 2, a: 1 } }], { caller: ADA }))).toEqual({ count: 1 });
    expect(await route(call([{ value: { b: 2, a: 3 } }], { caller: ADA }))).toEqual({ count: 2 });
    expect(await route(call([{ value: { a: 1, b: 2 } }], { caller: BOB }))).toEqual({ count: 3 });
    wait(1);
    expect(await route(call([{ value: { a: 1, b: 2 } }], { caller: ADA }))).toEqual({ count: 4 });
    expect(told.entries.map(({ cached }) => cached)).toEqual([false, true, false, false, false]);
  });

  test("is off unless the method asks for it", async () => {
    const { route, call } = counting({ metadata: {} });
    expect([await route(call([1])), await route(call([1]))]).toEqual([{ count: 1 }, { count: 2 }]);
  });

  test("caches no failure, and tolerates values that cannot be copied", async () => {
    let count = 0;
    const run = (): Promise<unknown> =>
      ++count === 1 ? Promise.reject(new Error("no")) : Promise.resolve(() => count);
    const { route, call } = counting({ run, kind: "mcp" });
    await expect(route(call([1]))).rejects.toThrow("no");
    await route(call([1]));
    await route(call([1]));
    expect(count).toBe(3);
  });

  test("returns copies", async () => {
    const { route, call } = counting({ run: () => Promise.resolve({ list: [new Date(0), new Uint8Array([1])] }) });
    const first = await route(call([1]));
    Reflect.set(first as object, "list", []);
    expect(await route(call([1]))).toEqual({ list: [new Date(0), new Uint8Array([1])] });
  });
});

describe("records and statistics [X6, S12]", () => {
  test("record each call without its values, including refused ones", async () => {
    const heard: AuditEntry[] = [];
    const { call, told } = benchWith({ input: { properties: { password: { type: "string" } } } });
    const router = routerWith({ now: () => 42, onEntry: (entry) => heard.push(entry) });
    await router.route(call(["hunter2"], { caller: ADA, id: 3 }));
    await router.route(call([5], { caller: ADA, id: 4 })).catch(() => {});
    const common = {
      time: 42,
      runId: "run-1",
      caller: "ada",
      path: "TestSkill.try",
      cached: false,
      durationMs: expect.any(Number),
    };
    expect(router.entries()).toEqual([
      { ...common, callId: 3, argumentsDigest: hashValue({ password: "hunter2" }), decision: "allowed", outcome: "ok" },
      {
        ...common,
        callId: 4,
        argumentsDigest: hashValue([5]),
        decision: "refused",
        outcome: "refused",
        code: "ARGUMENTS_INVALID",
      },
    ]);
    expect(heard).toEqual(router.entries());
    expect(told.entries).toEqual(heard);
    expect(heard.every(Object.isFrozen)).toBe(true);
    expect(JSON.stringify(heard)).not.toContain("hunter2");
  });

  test("keep the newest records", { tags: "rest" }, async () => {
    const { call } = benchWith();
    const router = routerWith();
    for (let id = 0; id < 2_010; id++) await router.route(call([], { id }));
    const ids = router.entries().map(({ callId }) => callId);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, 1_010, 2_009]);
  });

  test("count attempted calls, not refused ones", async () => {
    let fails = false;
    const { call } = benchWith({ run: () => (fails ? Promise.reject(new Error("no")) : Promise.resolve(1)) });
    const router = routerWith({ now: () => 42 });
    for (let at = 0; at < 3; at++) await router.route(call([]));
    fails = true;
    await router.route(call([])).catch(() => {});
    await router.route(call([], { caller: { id: "eve", permissions: [] } })).catch(() => {});
    const [path, statistics] = [...router.statistics()][0] ?? [];
    expect(path).toBe("TestSkill.try");
    expect(statistics).toMatchObject({ total: 4, succeeded: 3, failed: 1, lastUsed: 42 });
    expect(statistics?.p95Ms).toBeGreaterThanOrEqual(statistics?.averageMs ?? Infinity);
  });
});

describe("an error that a method throws [S10]", () => {
  test("becomes one redacted message with the skill and the method", async () => {
    const thrown = Object.assign(
      new Error(
        "backend failed while connecting to pg://admin:canary-pw@10.0.0.5/prod at /srv/canary-host/app/db.js:42",
      ),
      { apiKey: "sk-canary-5e7d1f" },
    );
    const { call } = benchWith({ run: () => Promise.reject(thrown), kind: "mcp", server: "test-server" });
    const error: unknown = await routerWith()
      .route(call([]))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SkillgateError);
    expect(error).toMatchObject({
      name: "SkillgateError",
      code: "CALL_FAILED",
      message: "backend failed while connecting to pg://[redacted] at [path]",
      facts: { skill: "TestSkill", method: "try", server: "test-server", tool: "try-it" },
      cause: thrown,
    });
    expect(JSON.stringify(error)).not.toContain("canary");
    expect((error as Error).stack).not.toContain("canary");
  });

  test("keeps the path that the call was about", async () => {
    const { call } = benchWith({
      run: (_, { value }) => Promise.reject(new Error(`ENOENT: no such file: ${String(value)}`)),
    });
    await expect(routerWith().route(call(["/data/missing.txt"]))).rejects.toThrow(
      "ENOENT: no such file: /data/missing.txt",
    );
  });

  test("hides secrets", async () => {
    const { call } = benchWith({ run: () => Promise.reject(new Error("wrong key: correct horse")) });
    await expect(routerWith({ secrets: new KnownSecrets(["correct horse"]) }).route(call([]))).rejects.toThrow(
      "wrong key: [redacted]",
    );
  });

  test.each<[string, unknown, string, string]>([
    ["a text", "no luck", "CALL_FAILED", "no luck"],
    ["nothing", undefined, "CALL_FAILED", "TestSkill.try failed"],
    ["an error without words", Object.assign(new Error(""), { code: "ECONNREFUSED" }), "CALL_FAILED", "ECONNREFUSED"],
    [
      "a hostile getter",
      {
        get message() {
          throw new Error("boo");
        },
      },
      "CALL_FAILED",
      "TestSkill.try failed",
    ],
    ["a symbol", Symbol("x"), "CALL_FAILED", "TestSkill.try failed"],
    [
      "a lost server",
      new SkillgateError("SERVER_GONE", "Cannot reach it", { apiKey: "k" }),
      "SERVER_GONE",
      "Cannot reach it",
    ],
    ["what only the router may say", new SkillgateError("PERMISSION_MISSING", "not you"), "CALL_FAILED", "not you"],
    ["what only a run may say", new SkillgateError("WALL_LIMIT", "too long"), "CALL_FAILED", "too long"],
  ])("%s", async (_, thrown, code, message) => {
    const { call } = benchWith({ run: () => Promise.reject(thrown as Error) });
    await expect(routerWith().route(call([]))).rejects.toMatchObject({
      code,
      message,
      facts: { skill: "TestSkill", method: "try" },
    });
  });

  test("is redacted even if thrown before a promise is returned", async () => {
    const { call } = benchWith({
      run: () => {
        throw new Error("at once");
      },
    });
    await expect(routerWith().route(call([]))).rejects.toMatchObject({ code: "CALL_FAILED", message: "at once" });
  });
});

describe("many calls [X3, X7]", () => {
  const flaky: Setup = {
    run: (_, { value }) => (value === 2 ? Promise.reject(new Error("two")) : Promise.resolve(value)),
  };

  test.each([false, true])(
    "return results in the order of the calls, with failures (parallel: %s)",
    async (parallel) => {
      const { call } = benchWith(flaky);
      const calls = [
        ...[1, 2, 3].map((value) => ({ name: "TestSkill.try", call: call([value]) })),
        { name: "Nobody.knows", call: undefined },
      ];
      const execution_time = expect.any(Number) as number;
      expect(await runCalls(routerWith().route, calls, { parallel })).toEqual([
        { success: true, data: 1, execution_time, tool_name: "TestSkill.try" },
        { success: false, data: null, error: "two", execution_time, tool_name: "TestSkill.try" },
        { success: true, data: 3, execution_time, tool_name: "TestSkill.try" },
        { success: false, data: null, error: "Unknown tool: Nobody.knows", execution_time, tool_name: "Nobody.knows" },
      ]);
    },
  );

  test.each([
    [false, 1],
    [true, 3],
  ])("run concurrently (parallel: %s): %i", async (parallel, most) => {
    let [now, peak] = [0, 0];
    const { call } = benchWith({
      run: async () => {
        peak = Math.max(peak, ++now);
        await new Promise((resolve) => setImmediate(resolve));
        now--;
      },
    });
    await runCalls(
      routerWith().route,
      [1, 2, 3].map((id) => ({ name: "x", call: call([], { id }) })),
      { parallel },
    );
    expect(peak).toBe(most);
  });
});
