import { expect, test, vi } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { createKeys } from "../../src/keys/index.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { parseServerSettings, type HttpServerSettings } from "../../src/surfaces/http/index.ts";
import { AUDIENCE, startIssuer } from "../support/issuer.ts";
import { folder, type Parsed, post, serve } from "../surfaces/serving.ts";

/** Serves a method that asks before each payment, and counts the payments. */
async function serveShop(settings: Partial<HttpServerSettings> = {}) {
  const paid: number[] = [];
  const ShopSkill = defineSkill({
    name: "ShopSkill",
    description: "Pays",
    methods: {
      pay: {
        description: "Pays",
        input: { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] },
        approval: "user",
        run: ({ amount }) => paid.push(amount),
      },
    },
  });
  const options = {
    skills: [ShopSkill],
    store: folder(),
    approvals: { wait: true, holdSeconds: 0.2 },
  } as const;
  const served = await serve({ expose: "both", ...settings }, options, () => false);
  await served.runtime.runs.follow();
  const ask = async (tool: string, body: object, token: string): Promise<Parsed> =>
    (await post(`${served.url}/tools/${tool}`, body, { authorization: `Bearer ${token}` })).json;
  return { ...served, options, paid, ask };
}

const CODE = "await device.ShopSkill.pay(1); await device.ShopSkill.pay(2); 'done'";

/** Answers the open question of a run with yes. */
async function approve({ approvals }: Runtime): Promise<void> {
  const [question] = await vi.waitUntil(async () => {
    const list = await approvals.list("pending");
    return list.length > 0 && list;
  });
  await approvals.answer(question?.id ?? "", { approve: true });
}

function whenLeft({ runs }: Runtime, id: string): Promise<unknown> {
  return vi.waitUntil(async () => !(await runs.get(id)).isOpen, { timeout: 10_000 });
}

const SECOND = 1_000;

/** Seconds for which the server accepts a token after its expiry. */
const TOLERANCE = 30;

/** Signs tokens of one subject; the lifetime is that in which the server accepts them, in seconds. */
async function serveWithIssuer() {
  const issuer = await startIssuer();
  const scopes = { pay: { permissions: ["call:ShopSkill.pay"] }, look: { permissions: ["see:ShopSkill.*"] } };
  const { auth, oauth } = parseServerSettings({ auth: { issuer: issuer.url, audience: AUDIENCE, scopes } });
  const shop = await serveShop({ auth, ...(oauth && { oauth }) });
  const sign = (lifetime: number, claims: object = {}) =>
    issuer.sign({ scope: "pay", exp: Math.floor(Date.now() / SECOND) + lifetime - TOLERANCE, ...claims });
  return { ...shop, sign };
}

test("makes no call of a run after its access token ended, until its caller comes with a valid one [P13, R9]", async () => {
  const { ask, sign, paid, runtime } = await serveWithIssuer();
  const begun = await ask("run_code", { code: CODE }, await sign(3));
  expect(begun.data.kind).toBe("waiting");
  const { runId, text } = begun.data as { readonly runId: string; readonly text: string };
  expect(text).toMatch(/continues by itself after an answer before .* UTC, when the access token of its caller ends/);
  await whenLeft(runtime, runId);
  await approve(runtime);
  const resumed = await runtime.runs.resume(runId);
  expect(resumed).toMatchObject({ kind: "waiting", approvals: [] });
  expect(resumed.text).toMatch(
    new RegExp(
      `^Run ${runId} waits for a valid access token: that of its caller, "oauth:ada", ended at .* UTC. The caller must call resume_run with this run_id and a new token: the run continues with its rights.$`,
    ),
  );
  expect(paid).toEqual([]);
  expect((await runtime.runs.get(runId)).state).toBe("waiting");
  // For another subject, the run does not exist.
  expect((await ask("resume_run", { run_id: runId }, await sign(60, { sub: "eve" }))).error).toContain("RUN_NOT_FOUND");
  const again = await ask("resume_run", { run_id: runId }, await sign(60));
  expect(again.data.kind).toBe("waiting");
  expect(paid).toEqual([1]);
  await approve(runtime);
  expect((await ask("resume_run", { run_id: runId }, await sign(60))).data).toMatchObject({
    kind: "completed",
    value: "done",
  });
  expect(paid).toEqual([1, 2]);
});

test("continues a run with the rights of the token that resumes it, not with the recorded ones [P13, P2]", async () => {
  const { ask, sign, paid, runtime } = await serveWithIssuer();
  const { runId } = (await ask("run_code", { code: CODE }, await sign(2))).data;
  await whenLeft(runtime, runId);
  await approve(runtime);
  const resumed = await ask("resume_run", { run_id: runId }, await sign(60, { scope: "look" }));
  expect(resumed.error).toContain("PERMISSION_MISSING");
  expect(paid).toEqual([]);
});

test("continues a run whose access token is valid when the answer comes [P13, R9]", async () => {
  const { ask, sign, paid, runtime } = await serveWithIssuer();
  const { runId } = (await ask("run_code", { code: CODE }, await sign(60))).data;
  await approve(runtime);
  await approve(runtime);
  await vi.waitUntil(async () => (await runtime.runs.get(runId)).state === "completed");
  expect(paid).toEqual([1, 2]);
});

test(
  "asks for a valid token also in another process, which finds the run after the end of the first [P13, R9]",
  { tags: "rest" },
  async () => {
    const { ask, sign, paid, runtime, options, close } = await serveWithIssuer();
    const { runId } = (await ask("run_code", { code: CODE }, await sign(2))).data;
    await whenLeft(runtime, runId);
    await approve(runtime);
    await close();
    const later = await createRuntime({ skillsDir: false, workers: 1, typecheck: false, ...options });
    await using _closing = { [Symbol.asyncDispose]: () => later.close() };
    expect(await later.runs.resume(runId)).toMatchObject({ kind: "waiting", approvals: [] });
    expect(paid).toEqual([]);
  },
);

test.each(["revoked", "expired"])(
  "cancels a run that waits in the server when its key is %s before the answer [P1, R9]",
  async (end) => {
    const { ask, paid, runtime } = await serveShop();
    const database = await runtime.database();
    const keys = createKeys(database);
    const { text, key } = await keys.create({ name: "ada", permissions: ["call:*"] });
    const { runId } = (await ask("run_code", { code: CODE }, text)).data;
    if (end === "revoked") await keys.revoke("ada");
    else await database.keys.update(key.id, { expires: Date.now() });
    await approve(runtime);
    await vi.waitUntil(async () => (await runtime.runs.get(runId)).ended !== null, { timeout: 10_000 });
    expect((await runtime.runs.get(runId)).state).toBe("cancelled");
    expect(await runtime.runs.outcome(runId)).toMatchObject({
      kind: "failed",
      error: { code: "CANCELLED", message: "The run was cancelled: its key is not valid any more (CANCELLED)" },
    });
    expect(paid).toEqual([]);
  },
);

test("continues a run whose key got a new secret: it is the same key, with the same rights [P1, R9]", async () => {
  const { ask, paid, runtime } = await serveShop();
  const keys = createKeys(await runtime.database());
  const { text } = await keys.create({ name: "ada", permissions: ["call:*"] });
  const { runId } = (await ask("run_code", { code: CODE }, text)).data;
  const rotated = await keys.rotate("ada", { overlapMs: 0 });
  await approve(runtime);
  await approve(runtime);
  const resumed = await ask("resume_run", { run_id: runId }, rotated.text);
  expect(resumed.data).toMatchObject({ kind: "completed", value: "done" });
  expect(paid).toEqual([1, 2]);
});
