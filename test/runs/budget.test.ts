import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { project, skillgate } from "../surfaces/cli/command.ts";

interface SkillCall {
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

const calls: SkillCall[] = [];

const SLOW = defineSkill({
  name: "SlowSkill",
  description: "Takes its time",
  methods: {
    never: {
      description: "Never end",
      run: (_input, { timeoutMs, signal }) => {
        calls.push({ timeoutMs, signal });
        return new Promise(() => {});
      },
    },
    late: { description: "End too late", timeoutMs: 50, run: () => new Promise(() => {}) },
    quick: { description: "End at once", readOnly: true, run: () => "done" },
  },
});

async function open(options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: [SLOW], workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

test("tells a program what is left of its limits [R8]", async () => {
  const runtime = await open();
  const limits = { calls: 5, cpuMs: 4_000, wallMs: 30_000, outputBytes: 1_000, memoryBytes: 32 << 20 };
  const code = `const before = await device.budget();
    await device.SlowSkill.quick();
    print("x".repeat(99));
    const after = await device.budget();
    ({ before, after })`;
  const outcome = await runtime.run(code, { limits });
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  const { before, after } = outcome.value as Record<string, Record<string, number>>;
  expect([before?.["calls"], after?.["calls"]]).toEqual([5, 4]);
  expect([before?.["outputBytes"], after?.["outputBytes"]]).toEqual([1_000, 900]);
  for (const name of ["cpuMs", "wallMs", "memoryBytes"] as const) {
    const left = after?.[name] ?? 0;
    expect(left, name).toBeGreaterThan(0);
    expect(left, name).toBeLessThanOrEqual(limits[name]);
    expect(Number.isInteger(left), name).toBe(true);
  }
  expect(outcome.usage.calls).toBe(1);
});

test("lets a program stop before a limit does [R8]", async () => {
  const runtime = await open();
  const code = `let made = 0;
    while ((await device.budget()).calls > 2) { await device.SlowSkill.quick(); made++; }
    made`;
  expect(await runtime.run(code, { limits: { calls: 10 } })).toMatchObject({ kind: "completed", value: 8 });
});

test("records what was left, and repeats it [R8]", async () => {
  const store = mkdtempSync(join(tmpdir(), "skillgate-budget-"));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  const runtime = await open({ store, runs: { record: "full" } });
  const outcome = await runtime.run("const { wallMs, cpuMs } = await device.budget();\n[wallMs, cpuMs]");
  const repeated = await runtime.runs.replay(outcome.runId);
  expect(repeated).toMatchObject({ kind: "completed", value: outcome.kind === "completed" ? outcome.value : [] });
  const { calls: recorded } = await runtime.runs.cassette(outcome.runId);
  expect(recorded).toMatchObject([{ path: "budget", args: "[]", isEffect: false, answer: { ok: true } }]);
});

test("is declared, and checked like a method [R8]", async () => {
  const runtime = await open({ typecheck: true });
  expect(runtime.declarations()).toContain("budget(): Promise<{ cpuMs: number; wallMs: number; calls: number;");
  expect(runtime.systemPrompt()).toContain("device.budget()");
  expect((await runtime.run("budget()")).kind).toBe("completed");
  const refused = await runtime.run("await device.budgets()");
  expect(refused.text).toContain("budget");
  expect(refused.kind).toBe("refused");
});

test("gives a call no more time than the run has left, and names it when the run ends [R8]", async () => {
  const runtime = await open();
  calls.length = 0;
  const outcome = await runtime.run("await device.SlowSkill.never()", { limits: { wallMs: 1_500 } });
  const [call] = calls;
  expect(call?.timeoutMs).toBeGreaterThan(0);
  expect(call?.timeoutMs).toBeLessThanOrEqual(1_500);
  expect(call?.signal.reason).toMatchObject({
    code: "CALL_CANCELLED",
    message: expect.stringMatching(/SlowSkill\.never; the run had only \d+ ms left for it/),
  });
  expect(outcome).toMatchObject({
    kind: "failed",
    error: {
      code: "WALL_LIMIT",
      message: expect.stringContaining("the run took 1500 ms; it had made 1 call; under way was SlowSkill.never"),
    },
  });
});

test("keeps the timeout of a method that ends before the run does [R8]", async () => {
  const runtime = await open();
  const code = "let code; try { await device.SlowSkill.late(); } catch (error) { code = error.code; }\ncode";
  expect(await runtime.run(code)).toMatchObject({ kind: "completed", value: "CALL_TIMEOUT" });
});

const FILE_SKILL = `
/** Tells its time. */
export class TimedSkill {
  /** Tell the time that a call has.
   * @timeout 2s
   */
  left(context) { return context.timeoutMs; }
}
`;

test("tells skills in files and programs of the command line what is left [R8]", { tags: "rest" }, async () => {
  const cwd = project({ "skills/timed.js": FILE_SKILL });
  const code = "const { calls } = await device.budget();\n[calls, await device.TimedSkill.left()]";
  const { stdout, exit } = await skillgate(["run", "--json", "-e", code], { cwd });
  expect(exit).toBe(0);
  expect((JSON.parse(stdout) as { readonly value: unknown }).value).toEqual([1_000, 2_000]);
});
