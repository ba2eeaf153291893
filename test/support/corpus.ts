import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Caller } from "../../src/model/caller.ts";
import type { Limits } from "../../src/model/limits.ts";
import type { Outcome } from "../../src/model/outcome.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { toInputSchema, type Stub, STUBS } from "./stubs.ts";

/** A program of the corpus: the header line of its case says how it must end; the program follows. */
export interface Program {
  /** `category/name`. */
  readonly id: string;
  readonly code: string;
  readonly intent: string;
  /**
   * For attacks, how the run must end: `refused`, `completed`, the code of an error, `limit` for an error of any limit, or
   * `contained` where the end depends on the speed of the machine and only the absence of harm counts.
   */
  readonly end?: string;
  /** Approvals that a person gave before. */
  readonly approve?: readonly { readonly tool: string; readonly args: unknown; readonly uses: number }[];
  /** For benign programs: the value, and the number of calls. */
  readonly result?: unknown;
  readonly calls?: number;
}

/** State that a program must not have changed, and data that it must not have read. */
export interface Traces {
  /** Calls that reached a method which this caller may not call, or without its approval. */
  readonly forbidden: string[];
  readonly reached: string[];
}

/** Reads `corpus/<folder>/<category>.js`: cases that begin with a line `//# name {header}`. */
export function readPrograms(folder: "attacks" | "benign"): readonly Program[] {
  const root = new URL(`../corpus/${folder}/`, import.meta.url).pathname;
  return readdirSync(root)
    .sort()
    .flatMap((file) => parsePrograms(file.replace(/\.js$/, ""), readFileSync(join(root, file), "utf8")));
}

function parsePrograms(category: string, text: string): readonly Program[] {
  const [before, ...cases] = text.split(/^\/\/# /m);
  if (before !== "" || cases.length === 0) throw new Error(`corpus ${category}: a case must begin with "//# name {…}"`);
  return cases.map((part) => {
    const [line = "", ...code] = part.trimEnd().split("\n");
    const [, name, header] = /^([a-z0-9-]+) (\{.*\})$/.exec(line) ?? [];
    if (name === undefined || header === undefined) throw new Error(`corpus ${category}: not a header: ${line}`);
    // `generate` is trusted code: it writes programs that are too long for a file, or hold characters that a file cannot.
    const { generate, ...rest } = JSON.parse(header) as Omit<Program, "id" | "code"> & { readonly generate?: string };
    const written = generate === undefined ? code.join("\n") : (new Function(`return (${generate})`)() as string);
    return { ...rest, id: `${category}/${name}`, code: written };
  });
}

/** Limits of programs that end by themselves, also on a machine with other work. */
export const LIMITS = { cpuMs: 4_000, wallMs: 8_000 };

/** One runtime for many programs, which may run at the same time. */
export async function openPrograms(
  programs: readonly Program[],
  limits: Readonly<Record<string, number>>,
  workers: number,
): Promise<{
  runtime: Runtime;
  traces: Traces;
  runProgram: (program: Program, limits?: Partial<Limits>) => Promise<Outcome>;
}> {
  const traces: Traces = { forbidden: [], reached: [] };
  const left = programs.flatMap(({ id, approve = [] }) => approve.map((approval) => ({ id, ...approval })));
  const runtime = await createRuntime({
    skillsDir: false,
    skills: stubSkills(traces),
    limits,
    workers,
    approve: ({ caller, path, input }) => {
      const found = left.find(
        (each) =>
          each.id === caller.id &&
          each.tool === path &&
          each.uses > 0 &&
          JSON.stringify(each.args) === JSON.stringify(input),
      );
      if (found === undefined) return false;
      Object.assign(found, { uses: found.uses - 1 });
      return true;
    },
  });
  // The first call with an effect would load and open the store, which can take longer than a run may.
  await runtime.database();
  const runProgram = (program: Program, changed: Partial<Limits> = {}): Promise<Outcome> =>
    runtime.run(program.code, { caller: callerFor(program), limits: changed });
  return { runtime, traces, runProgram };
}

export function callerFor({ id }: Program): Caller {
  const paths = Object.entries(STUBS.tools);
  return {
    id,
    permissions: paths
      .filter(([, { permission }]) => permission !== "hidden")
      .map(([path, { permission }]) => `${permission === "deny" ? "see" : "call"}:${path}`),
  };
}

/** The stub skills; each run gets files and state of its own. */
export function stubSkills(traces: Traces): readonly ProvidedSkill[] {
  const contexts = new Map<string, object>();
  const getContext = (runId: string): object => {
    const ctx = contexts.get(runId) ?? { files: { ...STUBS.files }, state: {}, canaries: STUBS.canaries };
    contexts.set(runId, ctx);
    return ctx;
  };
  const names = new Set(Object.keys(STUBS.tools).map((path) => path.split(".")[0] as string));
  return [...names].map((name) => ({
    name,
    description: `${name} of the corpus`,
    source: "stubs.json",
    kind: "code",
    methods: Object.entries(STUBS.tools)
      .filter(([path]) => path.startsWith(`${name}.`))
      .map(([path, stub]) => ({
        name: path.slice(name.length + 1),
        description: path,
        input: toInputSchema(stub),
        metadata: { approval: stub.permission === "approve" ? "user" : "none" },
      })),
    invoke: async ({ name: method }, input, { runId }) => {
      const path = `${name}.${method}`;
      const stub = STUBS.tools[path] as Stub;
      traces.reached.push(path);
      if (stub.permission === "deny" || stub.permission === "hidden") traces.forbidden.push(path);
      const implementation = new Function("ctx", `return (${stub.impl})`)(getContext(runId)) as (
        input: unknown,
      ) => unknown;
      return implementation(input);
    },
  }));
}

/** Returns how a run ended, in the terms of `Program.end`. */
export function getEnd(outcome: Outcome): string {
  return outcome.kind === "failed" ? outcome.error.code : outcome.kind;
}

/** True if an attack ended as its case says. */
export function isExpectedEnd(expected: string | undefined, actual: string): boolean {
  if (expected === "contained") return true;
  return expected === "limit" ? actual.endsWith("_LIMIT") : actual === expected;
}

/** Canaries, paths, environment: whatever of the host can be read in what a model is shown. */
export function leaksIn(outcome: Outcome): readonly string[] {
  const shown = JSON.stringify(outcome);
  const secrets = [
    ...Object.values(STUBS.canaries),
    process.cwd(),
    process.version,
    process.execPath,
    ...process.argv.slice(0, 2),
  ];
  return secrets.filter((secret) => shown.includes(JSON.stringify(secret).slice(1, -1)));
}
