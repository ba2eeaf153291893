import type { Caller } from "../../model/caller.ts";
import type { Limits } from "../../model/limits.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions, Runtime } from "../../runtime.ts";
import { parseBuiltinInput } from "./input.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";

/**
 * Searches after waiting up to `discoveryMs` for servers that are still connecting, and as long for the index. Throws
 * `ARGUMENTS_INVALID`.
 */
export async function searchSkills(runtime: Runtime, args: unknown, caller?: Caller) {
  const { query, limit, offset } = parseBuiltinInput("search_skills", args);
  await waitAtMost(runtime.timeouts.discoveryMs, runtime.known);
  await runtime.index();
  const page = { limit: Number(limit), offset: Number(offset) };
  return runtime.search(String(query), { ...page, readMs: 0, ...(caller && { caller }) });
}

export async function describeFunction(runtime: Runtime, args: unknown, caller?: Caller) {
  const { path } = parseBuiltinInput("describe_function", args);
  await waitAtMost(runtime.timeouts.discoveryMs, runtime.known);
  return runtime.describe(String(path), { ...(caller && { caller }) });
}

/** A finished run, its program and its time limits. */
export interface EndedRun {
  readonly source: string;
  readonly outcome: Outcome;
  readonly limits: Pick<Limits, "cpuMs" | "wallMs">;
}

/** Runs a program. Throws `ARGUMENTS_INVALID`. */
export async function runCode(runtime: Runtime, args: unknown, options: RunOptions): Promise<EndedRun> {
  const { code, timeoutMs } = parseBuiltinInput("run_code", args);
  const source = String(code);
  const { cpuMs, wallMs: most } = { ...runtime.limits, ...options.limits };
  // A model may lower the owner's time limit, not raise it.
  const wallMs = typeof timeoutMs === "number" ? Math.min(timeoutMs, most) : most;
  const outcome = await runtime.run(source, { ...options, limits: { ...options.limits, wallMs } });
  return { source, outcome, limits: { cpuMs, wallMs } };
}
