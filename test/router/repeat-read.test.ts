import { describe, expect, test } from "vitest";

import { Cancellation } from "../../sandbox/index.ts";
import { SkillgateError } from "../../src/errors.ts";
import { NO_POLICY } from "../../src/model/policy.ts";
import type { Client } from "../../src/model/client-requests.ts";
import type { MethodMetadata, ProvidedSkill } from "../../src/model/skill.ts";
import { type Call, createRouter, type RouterOptions } from "../../src/router/index.ts";
import { findRetryAfterMs, isTransient } from "../../src/shared/errors/transient.ts";
import { createValidator } from "../../src/validation/index.ts";
import { benchWith } from "./calls.ts";

const validator = createValidator();
const READ = { readOnly: true };

/** Calls a method that answers with these errors, then with its value. Returns what came of it. */
async function callFailing(
  messages: readonly string[],
  metadata: Partial<MethodMetadata> = READ,
  options: Partial<RouterOptions> = {},
): Promise<{ readonly calls: number; readonly attempts: number | undefined; readonly result: unknown }> {
  let calls = 0;
  const run = async (): Promise<unknown> => {
    const message = messages[calls++];
    if (message !== undefined) throw new Error(message);
    return "value";
  };
  const { call, told } = benchWith({ run, metadata });
  const router = createRouter({ validator, ...options });
  const result = await router.route(call([])).catch((error: unknown) => (error as Error).message);
  expect(told.entries).toHaveLength(1);
  return { calls, attempts: told.entries[0]?.attempts, result };
}

describe("a call of a read-only method", () => {
  test.each([
    "HTTP 503: Service Unavailable, please retry",
    "429 Too Many Requests",
    "504 Gateway Time-out",
    "read ECONNRESET",
    "upstream request timed out",
    "The index is being rebuilt, try again in 10 ms",
  ])("is made once more after %s, and recorded as one call [R4]", async (message) => {
    expect(await callFailing([message])).toEqual({ calls: 2, attempts: 2, result: "value" });
  });

  test("is made at most twice, and its error says so [R4]", async () => {
    const result = await callFailing(["503 busy", "503 still busy", "503 busy"]);
    expect(result).toEqual({ calls: 2, attempts: 2, result: "503 still busy (tried twice)" });
  });

  test("is not made again if its provider repeats calls itself, and records its attempts [R4]", async () => {
    let calls = 0;
    const run = async (): Promise<unknown> => {
      calls += 1;
      throw new SkillgateError("CALL_FAILED", "503 busy", { attempts: 2 });
    };
    const { call, told } = benchWith({ run, metadata: READ });
    await expect(createRouter({ validator }).route(call([]))).rejects.toThrow("503 busy (tried twice)");
    expect([calls, told.entries[0]?.attempts]).toEqual([1, 2]);
  });

  test("is made once if its failure will stay [R4]", async () => {
    const result = await callFailing(["404 Not Found"]);
    expect(result).toEqual({ calls: 1, attempts: undefined, result: "404 Not Found" });
  });

  test("is made once if the server asks for a long pause [R4]", async () => {
    const result = await callFailing(["429 slow down, retry after 60 s"]);
    expect(result).toMatchObject({ calls: 1 });
  });

  test("is made once if the pause would not fit into its time [R4]", async () => {
    const result = await callFailing(["503, retry after 2 s"], { readOnly: true, timeoutMs: 1_000 });
    expect(result).toMatchObject({ calls: 1 });
  });

  test("is made once where the owner limits its calls, or has switched repetitions off [R4]", async () => {
    expect(await callFailing(["503"], { readOnly: true, rateLimit: 10 })).toMatchObject({ calls: 1 });
    const getRule: typeof NO_POLICY.getRule = (method) => ({ ...NO_POLICY.getRule(method), cooldownSeconds: 1 });
    expect(await callFailing(["503"], READ, { getPolicy: () => ({ ...NO_POLICY, getRule }) })).toMatchObject({
      calls: 1,
    });
    expect(await callFailing(["503"], READ, { retriesReads: false })).toMatchObject({ calls: 1 });
  });

  test.each(["elicitation/create", "sampling/createMessage"] as const)(
    "is made once if it has sent the client %s [R4]",
    async (request) => {
      const asked: string[] = [];
      const client: Client = { can: () => true, ask: async (name) => void asked.push(name) };
      const run: ProvidedSkill["invoke"] = async (_method, _input, context) => {
        await context.client?.ask(request, {});
        throw new Error("503, try again");
      };
      const { call } = benchWith({ run, metadata: READ });
      await expect(createRouter({ validator }).route({ ...call([]), client })).rejects.toThrow("503");
      expect(asked).toEqual([request]);
    },
  );

  test("is made once if it may have waited for the answer to a question of a call beside it [R4]", async () => {
    let calls = 0;
    const run: ProvidedSkill["invoke"] = async (_method, _input, { pauseTimeoutFor }) => {
      calls += 1;
      await pauseTimeoutFor?.(Promise.resolve("yes"));
      throw new Error("503, try again");
    };
    const { call } = benchWith({ run, metadata: READ });
    const asking: Call = { ...call([]), pauseTimeoutFor: (answer) => answer };
    await expect(createRouter({ validator }).route(asking)).rejects.toThrow("503");
    expect(calls).toBe(1);
  });

  test("is not made again when its run ends during the pause [R4]", async () => {
    let calls = 0;
    const end = new Cancellation();
    const run = async (): Promise<unknown> => {
      calls += 1;
      queueMicrotask(() => setImmediate(() => end.cancel(new Error("over"))));
      throw new Error("503, retry after 4 s");
    };
    const { call } = benchWith({ run, metadata: READ });
    await expect(createRouter({ validator }).route(call([], { cancellable: end }))).rejects.toThrow();
    expect(calls).toBe(1);
  });
});

test.each([{}, { idempotent: true }, { destructive: true }, { readOnly: false }])(
  "a call that may have an effect is made once: %j [R4]",
  async (metadata) => {
    expect(await callFailing(["503 please retry"], metadata)).toMatchObject({ calls: 1, result: "503 please retry" });
  },
);

test.each([
  ["retry after 2 s", 2_000],
  ["Retry-After: 3", 3_000],
  ['{"error":"busy","retry_after":4}', undefined],
  ["try again in 250 ms", 250],
  ["please wait 1.5 seconds", 1_500],
  ["Try again in 2 minutes", 120_000],
  ["try again later", undefined],
  ["retry, error 503", undefined],
])("reads the pause in %j", (message, pauseMs) => {
  expect(findRetryAfterMs(message)).toBe(pauseMs);
});

test.each([
  "503",
  "503: busy",
  "[429] slow down",
  "HTTP 503",
  "Cannot send to the endpoint (HTTP 502): down",
  "HTTP/1.1 504",
  "HTTP error 503",
  "Request failed with status code 503",
  '{"status":503}',
  "statusCode=429",
  "Error: 503",
  "error code: 502",
  "MCP error -32603: 503 from upstream",
  "Rate limit exceeded",
  "Please retry",
  "Try again later",
  "The index could not be read, retry",
  "read ECONNRESET",
])("takes %j for words of a busy or lost server", (message) => {
  expect(isTransient(message)).toBe(true);
});

test.each([
  "invalid timeout_id",
  "no such order 4290",
  "permission denied",
  "Issue 503 does not exist",
  "status of order 503 is unknown",
  "Permanent failure: do not retry",
  "HTTP 503: don't retry",
  "This call can never be made: it is not safe to retry",
  "Never try again",
  "retry limit exceeded",
  "retry exceeded",
])("takes %j for words of another failure", (message) => {
  expect(isTransient(message)).toBe(false);
});
