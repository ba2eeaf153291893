import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type { Caller } from "../src/model/caller.ts";
import type { Limits } from "../src/model/limits.ts";
import type { Outcome } from "../src/model/outcome.ts";
import type { ProvidedSkill } from "../src/model/skill.ts";
import { createRuntime, type Runtime } from "../src/runtime.ts";
import { inputOf, type Stub, STUBS } from "./stubs.ts";

/** The first line of a program's file says what must become of it; the snippet is the rest. */
export interface Program {
  readonly id: string;
  readonly code: string;
  readonly expect: "rejected-static" | "error" | "contained" | "allowed";
  /** Other ends that are sound too. */
  readonly alsoOk?: readonly Program["expect"][];
  /** Approvals that a person gave before. */
  readonly approve?: readonly { readonly tool: string; readonly args: unknown; readonly uses: number }[];
  /** For benign programs: the value, and how many calls it takes. */
  readonly result?: unknown;
  readonly calls?: number;
}

/** What a program may not have touched, and what it may not have learnt. */
export interface Traces {
  /** Calls that reached a method which this caller may not call, or without its approval. */
  readonly forbidden: string[];
  readonly reached: string[];
}

export function readPrograms(folder: "attacks" | "benign"): readonly Program[] {
  const root = new URL(`${folder}/`, import.meta.url).pathname;
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => parseProgram(file.slice(root.length), readFileSync(file, "utf8")));
}

function parseProgram(id: string, text: string): Program {
  const end = text.indexOf("\n");
  const head = JSON.parse(text.slice(3, end)) as Omit<Program, "id" | "code"> & { readonly gen?: string };
  // `gen` is ours and trusted: it writes programs that are too long for a file.
  const code = head.gen === undefined ? text.slice(end + 1) : (new Function(`return (${head.gen})`)() as string);
  return { ...head, id, code };
}

export const LIMITS = { cpuMs: 1_000, wallMs: 2_000 };

/** A runtime with the stub skills, for one program. */
export async function openCorpus(
  program: Program,
  limits: Readonly<Record<string, number>> = LIMITS,
): Promise<{ runtime: Runtime; traces: Traces; run: () => Promise<Outcome> }> {
  const { runtime, traces, runProgram } = await openCorpusOf([program], limits, 1);
  return { runtime, traces, run: () => runProgram(program) };
}

/** One runtime for many programs, which may run at the same time. */
export async function openCorpusOf(
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
  const runProgram = (program: Program, changed: Partial<Limits> = {}): Promise<Outcome> =>
    runtime.run(program.code, { caller: callerFor(program), limits: changed });
  return { runtime, traces, runProgram };
}

function callerFor({ id }: Program): Caller {
  const paths = Object.entries(STUBS.tools);
  return {
    id,
    grants: paths
      .filter(([, stub]) => stub.permission === "allow" || stub.permission === "approve")
      .map(([path]) => path),
    reads: paths.filter(([, stub]) => stub.permission === "deny").map(([path]) => path),
  };
}

/** The stub skills; each run gets files and state of its own. */
function stubSkills(traces: Traces): readonly ProvidedSkill[] {
  const contexts = new Map<string, object>();
  const contextOf = (runId: string): object => {
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
        input: inputOf(stub),
        metadata: { approval: stub.permission === "approve" ? "user" : "none" },
      })),
    invoke: async ({ name: method }, input, { runId }) => {
      const path = `${name}.${method}`;
      const stub = STUBS.tools[path] as Stub;
      traces.reached.push(path);
      if (stub.permission === "deny" || stub.permission === "hidden") traces.forbidden.push(path);
      const implementation = new Function("ctx", `return (${stub.impl})`)(contextOf(runId)) as (
        input: unknown,
      ) => unknown;
      return implementation(input);
    },
  }));
}

/** How an outcome is called in the programs' first lines. */
export function endOf(outcome: Outcome): Program["expect"] {
  switch (outcome.kind) {
    case "refused":
      return "rejected-static";
    case "failed":
      return "error";
    case "completed":
      return "allowed";
  }
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
