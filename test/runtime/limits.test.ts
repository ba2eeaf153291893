import { afterAll, expect, test } from "vitest";

import { ERRORS, type ErrorCode } from "../../src/errors.ts";
import type { Limits } from "../../src/model/limits.ts";
import { KEPT_RESULT_BYTES } from "../../src/model/kept-results.ts";
import { createRuntime } from "../../src/runtime.ts";

const runtime = await createRuntime({
  skillsDir: false,
  workers: 2,
  skills: [
    {
      name: "EchoSkill",
      description: "Gives back",
      source: "test",
      kind: "code",
      methods: [
        {
          name: "echo",
          description: "Give it back",
          input: { type: "object", properties: { value: {} } },
          metadata: {},
        },
        { name: "never", description: "Never answers", input: { type: "object", properties: {} }, metadata: {} },
      ],
      invoke: async ({ name }, input, { signal }) =>
        name === "echo"
          ? (input as { readonly value?: unknown }).value
          : new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    },
  ],
});
afterAll(() => runtime.close());

interface Reached {
  readonly limits: Partial<Limits>;
  readonly source: string;
  readonly code: ErrorCode;
  /** The values that the message quotes. */
  readonly values: string;
}

/** Limits that end or refuse a run: all except those that cut, and three without a number. */
const ENDS: Readonly<
  Record<Exclude<keyof Limits, "outputBytes" | "answerTokens"> | "stack" | "promises" | "nesting", Reached>
> = {
  nesting: {
    limits: {},
    source: "let v = 1; for (let i = 0; i < 600; i++) v = [v]; return v;",
    code: "NESTING_LIMIT",
    values: "it has more than 500 levels",
  },
  cpuMs: {
    limits: { cpuMs: 50 },
    source: "for (;;);",
    code: "CPU_LIMIT",
    values: "the program computed for 50 ms",
  },
  wallMs: {
    limits: { wallMs: 80 },
    source: "device.EchoSkill.never()",
    code: "WALL_LIMIT",
    values: "the run took 80 ms; it had made 1 call; under way was EchoSkill.never",
  },
  memoryBytes: {
    limits: { memoryBytes: 2 << 20 },
    source: "const all = []; for (;;) all.push('x'.repeat(1e5) + all.length)",
    code: "MEMORY_LIMIT",
    values: "the program needs more than 2097152 bytes",
  },
  stack: {
    limits: {},
    source: "const dive = () => dive() + 1; dive()",
    code: "STACK_LIMIT",
    values: "the program calls functions too deeply",
  },
  sourceBytes: {
    limits: { sourceBytes: 10 },
    source: "1 + 1 + 1 + 1",
    code: "SOURCE_LIMIT",
    values: "at most 10 bytes are read",
  },
  calls: {
    limits: { calls: 3 },
    source: "for (;;) device.EchoSkill.echo(1)",
    code: "CALL_LIMIT",
    values: "the run made 3 calls",
  },
  callsInFlight: {
    limits: { callsInFlight: 2, calls: 10_000 },
    source: "await Promise.all(Array.from({ length: 9_000 }, (_, n) => device.EchoSkill.echo(n)))",
    code: "CALLS_IN_FLIGHT_LIMIT",
    values: "the arguments of calls without an answer have more than 2 × 1048576 bytes",
  },
  argumentBytes: {
    limits: { argumentBytes: 100 },
    source: "device.EchoSkill.echo('x'.repeat(101))",
    code: "ARGUMENT_LIMIT",
    values: "the arguments have more than 100 bytes",
  },
  answerBytes: {
    limits: { answerBytes: 100 },
    source: "device.EchoSkill.echo('x'.repeat(101))",
    code: "ANSWER_LIMIT",
    values: "it has more than 100 bytes",
  },
  resultBytes: {
    limits: { resultBytes: 100, memoryBytes: 256 << 20, cpuMs: 60_000 },
    source: `'x'.repeat(${KEPT_RESULT_BYTES + 1})`,
    code: "RESULT_LIMIT",
    values: `the result has more than ${KEPT_RESULT_BYTES} bytes`,
  },
  promises: {
    limits: {},
    source: "await new Promise(() => {})",
    code: "NEVER_SETTLES",
    values: "no call or timer is pending",
  },
};

test.each(Object.entries(ENDS))(
  "ends only this run with an error of its own for %s [S7]",
  { tags: "rest" },
  async (_, reached) => {
    const beside = runtime.run("await new Promise((done) => setTimeout(done, 60)); device.EchoSkill.echo(7)");
    const outcome = await runtime.run(reached.source, { limits: reached.limits });
    const error =
      outcome.kind === "refused" ? outcome.violations[0] : outcome.kind === "failed" ? outcome.error : undefined;
    const { says, fix } = ERRORS[reached.code];
    const message = `${says}: ${reached.values} (${reached.code})`;
    expect(error).toMatchObject({ code: reached.code, message });
    expect(outcome.text).toContain(fix);
    expect(await beside).toMatchObject({ kind: "completed", value: 7 });
    expect(await runtime.run("throw new RangeError('stack overflow')")).toMatchObject({ error: { code: "THROWN" } });
    expect(await runtime.run("device.EchoSkill.echo(8)")).toMatchObject({ kind: "completed", value: 8 });
  },
);

test("covers every code of a limit [S7]", () => {
  const codes = Object.keys(ERRORS).filter((code) => code.endsWith("_LIMIT"));
  // DEPTH_LIMIT concerns text that nests, RATE_LIMIT the calls of a minute, RESUME_LIMIT the ends of processes.
  const others = new Set(["DEPTH_LIMIT", "RATE_LIMIT", "RESUME_LIMIT"]);
  const reached: readonly string[] = Object.values(ENDS).map(({ code }) => code);
  expect(codes.filter((code) => !others.has(code)).toSorted()).toEqual(
    reached.filter((code) => code !== "NEVER_SETTLES").toSorted(),
  );
});

test("cuts printed text and a result visibly at their limits, and completes the run [S7, S11]", async () => {
  const limits = { outputBytes: 10, resultBytes: 10 };
  expect(await runtime.run("print('x'.repeat(20)); 'y'.repeat(20)", { limits })).toMatchObject({
    kind: "completed",
    output: "xxxxxxxxxx\n… output cut at 10 bytes",
    value: '"yyyyyyyyy…',
    notes: [expect.stringMatching(/^The result has 22 bytes and was cut at 10: read it in parts at result:\/\//)],
  });
});

test("cancels calls in progress when a program ends, and names them in a note [S7]", async () => {
  const source = "Promise.race([device.EchoSkill.never(), device.EchoSkill.echo(1), device.EchoSkill.never()])";
  expect(await runtime.run(source)).toMatchObject({
    kind: "completed",
    value: 1,
    notes: [
      "The program ended before these calls did, and they were cancelled: EchoSkill.never, EchoSkill.never. Await them",
    ],
    calls: [{ outcome: "unfinished" }, { outcome: "ok" }, { outcome: "unfinished" }],
  });
});

test("a message about a limit says how many calls were made, and which were not yet [S7]", async () => {
  const limits = { wallMs: 80, callsInFlight: 2 };
  const source = `
    await device.EchoSkill.echo(1);
    await Promise.all([1, 2, 3, 4].map(() => device.EchoSkill.never()));`;
  const outcome = await runtime.run(source, { limits });
  expect(outcome).toMatchObject({
    kind: "failed",
    usage: { calls: 3 },
    error: {
      message:
        "Run time limit exceeded: the run took 80 ms; it had made 3 calls; not made yet were EchoSkill.never (2 times); under way were EchoSkill.never (2 times) (WALL_LIMIT)",
    },
  });
});

test("a note lists the calls that were not made when the program ended [S12]", async () => {
  const source = `
    const hanging = [1, 2, 3, 4, 5].map(() => device.EchoSkill.never());
    await Promise.race([...hanging, new Promise((done) => setTimeout(done, 20))]);
    "end"`;
  const outcome = await runtime.run(source, { limits: { callsInFlight: 2 } });
  expect(outcome).toMatchObject({
    kind: "completed",
    value: "end",
    notes: expect.arrayContaining([
      "The program ended before these calls were made, as others were pending: EchoSkill.never (3 times). Await them",
    ]) as string[],
  });
});
