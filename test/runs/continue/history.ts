import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll } from "vitest";

import { createRuntime, defineSkill, type Outcome, type Runtime } from "../../../src/index.ts";

/** How a call of the first program ends. `silent`: it had its effect, and the program failed before its end was known. */
export type End = "ok" | "fail" | "silent";

/** A call of the method `m0` to `m5` of a skill. */
export interface Step {
  readonly method: string;
  /** Text of the argument; empty for none. */
  readonly argument: string;
  readonly end: End;
}

/** `reuse`: answered from the first run. `live`: made. `ask`: the run stops before the call. */
export type Decision = "reuse" | "live" | "ask";

/** Methods of these names change nothing. `set` may be repeated. */
const READS = ["inbox", "status", "read", "who", "uuid", "good"];
const IDEMPOTENT = ["set"];
const EFFECTS = ["send", "start", "write", "create", "bad", "key", "save", "x", "order", "pay"];

/** A skill that records the calls which reach it. */
export interface Shop {
  readonly runtime: Runtime;
  /** `method argument` of each call that reached the skill, in order. */
  readonly reached: string[];
  /** Makes the methods fail or hang as the steps say; without steps they all work. */
  plan(steps: readonly Step[]): void;
}

/** Opens a runtime for one file of tests. */
export async function openShop(options: Parameters<typeof createRuntime>[0] = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-continue-"));
  const reached: string[] = [];
  let planned: Step[] = [];
  let phase = "first";
  const run = (method: string, argument: string, signal: AbortSignal): Promise<string> | string => {
    reached.push(`${method} ${argument}`);
    const at = planned.findIndex((step) => step.method === method && step.argument === argument);
    const [step] = at < 0 ? [] : planned.splice(at, 1);
    if (step?.end === "fail") throw new Error(`${method} fails`);
    if (step?.end !== "silent") return phase;
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
  };
  const define = (method: string) => ({
    description: `Do ${method}`,
    readOnly: READS.includes(method),
    idempotent: IDEMPOTENT.includes(method),
    input: { type: "object", properties: { argument: { type: "string" } } },
    run: ({ argument = "" }: { readonly argument?: string }, { signal }: { readonly signal: AbortSignal }) =>
      run(method, argument, signal),
  });
  const methods = [...READS, ...IDEMPOTENT, ...EFFECTS].map((method) => [method, define(method)]);
  const skill = defineSkill({ name: "ShopSkill", description: "A shop", methods: Object.fromEntries(methods) });
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [skill],
    store: folder,
    workers: 1,
    typecheck: false,
    ...options,
  });
  afterAll(async () => {
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    runtime,
    reached,
    plan(steps) {
      planned = [...steps];
      phase = steps.length > 0 ? "first" : "second";
    },
  };
}

/** `send a fail`: the method, its argument and its end; `ok` and the argument may be missing. */
export function parseSteps(text: string): readonly Step[] {
  return text.split(",").map((part) => {
    const [method = "", ...rest] = part.trim().split(" ");
    const end = rest.find((word): word is End => word === "fail" || word === "silent" || word === "ok") ?? "ok";
    return { method, argument: rest.find((word) => word !== end) ?? "", end };
  });
}

/** Writes the program of the first run: it makes the calls one after the other, and fails. */
export function writeFirst(steps: readonly Step[]): string {
  const lines = steps.map(({ end, ...step }) => {
    if (end === "silent") return `void ${writeCall(step)}.catch(() => {}); await device.ShopSkill.inbox("wait");`;
    return end === "fail" ? `try { await ${writeCall(step)} } catch {}` : `await ${writeCall(step)};`;
  });
  return `${lines.join("\n")}\nthrow new Error("failed")`;
}

/** Writes a program that makes the calls one after the other, and prints who answers each. */
export function writeNext(steps: readonly Pick<Step, "method" | "argument">[]): string {
  return steps.map((step) => `print(await ${writeCall(step)});`).join("\n");
}

function writeCall({ method, argument }: Pick<Step, "method" | "argument">): string {
  return `device.ShopSkill.${method}(${argument === "" ? "" : JSON.stringify(argument)})`;
}

/** Returns who answered the calls of a program that `writeNext` has written. */
export function readDecisions(outcome: Outcome): readonly Decision[] {
  if (outcome.kind !== "completed" && outcome.kind !== "failed") throw new Error(outcome.text);
  const answers = outcome.output.split("\n").filter(Boolean);
  const decisions = answers.map((line): Decision => (line === "second" ? "live" : "reuse"));
  if (outcome.kind === "completed") return decisions;
  if (outcome.error.code !== "CONTINUE_UNSURE") throw new Error(outcome.text);
  return [...decisions, "ask"];
}
