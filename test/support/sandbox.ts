import { spawn } from "node:child_process";
import { afterAll } from "vitest";

import {
  type AnswerCall,
  createSandbox,
  type RunLimits,
  type Sandbox,
  type SandboxAnswer,
  type SandboxOutcome,
  type SandboxRunOptions,
} from "../../sandbox/index.ts";

export const LIMITS: RunLimits = {
  cpuMs: 4_000,
  wallMs: 20_000,
  memoryBytes: 48 << 20,
  calls: 1_000,
  callsInFlight: 256,
  argumentBytes: 1 << 20,
  answerBytes: 1 << 20,
  resultBytes: 1 << 20,
  outputBytes: 64 << 10,
};

/** The methods of `device` in these tests. */
const PATHS = ["Echo.back", "Echo.fail", "Echo.slow", "plain"];

/** A sandbox for one file of tests, with threads of its own. */
export function openSandbox(workers = 2): Sandbox {
  const sandbox = createSandbox({ limits: LIMITS, workers });
  afterAll(() => sandbox.close());
  return sandbox;
}

/** `Echo.back` gives its first argument back, `Echo.fail` fails; `Echo.slow` answers after so many milliseconds. */
export const echo: AnswerCall = async ({ path, arguments: json, signal }) => {
  const [first] = JSON.parse(json) as unknown[];
  if (path === "Echo.fail") return failure("REFUSED", "Cannot do this");
  if (path === "Echo.slow") await later(Number(first), signal);
  return answer(first);
};

export function answer(value: unknown): SandboxAnswer {
  return { ok: true, json: JSON.stringify(value ?? null) };
}

export function failure(code: string, message: string): SandboxAnswer {
  return { ok: false, error: { name: "CallError", code, message, skill: "Echo", method: "fail", server: "here" } };
}

export function later(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Runs some code with the paths above. */
export function run(
  sandbox: Sandbox,
  code: string,
  options: Omit<SandboxRunOptions, "limits"> & {
    readonly limits?: Partial<RunLimits>;
    readonly seed?: Uint8Array;
    readonly time?: number;
  } = {},
  respond: AnswerCall = echo,
): Promise<SandboxOutcome> {
  const { limits = {}, seed, time, ...rest } = options;
  const program = { code, paths: PATHS, ...(seed && { seed }), ...(time !== undefined && { time }) };
  return sandbox.run(program, respond, { ...rest, limits: { ...LIMITS, ...limits } });
}

/** The value that some code returns; anything else is an error. */
export async function getValue(sandbox: Sandbox, code: string, respond: AnswerCall = echo): Promise<unknown> {
  const { end } = await run(sandbox, code, {}, respond);
  if (end.kind !== "returned") throw new Error(`did not return: ${JSON.stringify(end)}`);
  return end.json === "" ? undefined : JSON.parse(end.json);
}

/** Returns the error that code throws, as the guest describes it. */
export async function thrownBy(sandbox: Sandbox, code: string, respond: AnswerCall = echo): Promise<Thrown> {
  const { end } = await run(sandbox, code, {}, respond);
  if (end.kind !== "threw") throw new Error(`did not throw: ${JSON.stringify(end)}`);
  return JSON.parse(end.json) as Thrown;
}

/** Exit code and output of a program that runs in a process of its own. */
export async function runInChild(
  flags: readonly string[],
  code: string,
): Promise<readonly [exit: number, output: string]> {
  const args = [...flags, "--input-type=module", "-e", code];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exit = await new Promise<number>((resolve) => child.on("close", resolve));
  return [exit, output];
}

export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly code?: string;
}
