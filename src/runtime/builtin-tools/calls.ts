import type { Caller } from "../../model/caller.ts";
import type { Limits } from "../../model/limits.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { RunOptions, Runtime } from "../../runtime.ts";
import type { Description, SearchAnswer } from "../../registry/index.ts";
import { parseBuiltinInput } from "./input.ts";
import { getTokensOfEach, joinDescriptions, joinSearches } from "./several-questions.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";

/**
 * Searches for one query or several after waiting up to `discoveryMs` for servers that are still connecting, and as long
 * for the index. Throws `ARGUMENTS_INVALID`, and `RATE_LIMIT` for a caller whose limits are used up.
 */
export async function searchSkills(runtime: Runtime, args: unknown, caller?: Caller): Promise<SearchAnswer> {
  const { query, limit, offset } = parseBuiltinInput("search_skills", args);
  if (caller !== undefined) await runtime.countRequest(caller);
  await waitAtMost(runtime.timeouts.discoveryMs, runtime.known);
  await runtime.index();
  const queries = toList(query);
  const options = {
    limit: Number(limit),
    offset: Number(offset),
    readMs: 0,
    ...getTokensOfEach(queries.length),
    ...(caller && { caller }),
  };
  return joinSearches(
    queries,
    queries.map((each) => runtime.search(each, options)),
  );
}

/** Describes one path or several. Throws `ARGUMENTS_INVALID` and `RATE_LIMIT`. */
export async function describeFunction(runtime: Runtime, args: unknown, caller?: Caller): Promise<Description> {
  const { path } = parseBuiltinInput("describe_function", args);
  if (caller !== undefined) await runtime.countRequest(caller);
  await waitAtMost(runtime.timeouts.discoveryMs, runtime.known);
  const paths = toList(path);
  return joinDescriptions(
    paths,
    paths.map((each) => runtime.describe(each, { ...(caller && { caller }) })),
  );
}

function toList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [String(value)];
}

/** A finished run, its program and its time limits. */
export interface EndedRun {
  readonly source: string;
  readonly outcome: Outcome;
  readonly limits: Pick<Limits, "cpuMs" | "wallMs">;
}

/** Runs a program. Throws `ARGUMENTS_INVALID` and `RATE_LIMIT`. */
export async function runCode(runtime: Runtime, args: unknown, options: RunOptions): Promise<EndedRun> {
  const { code, timeoutMs } = parseBuiltinInput("run_code", args);
  const source = String(code);
  const { cpuMs, wallMs: maxWallMs } = { ...runtime.limits, ...options.limits };
  // A model may lower the owner's time limit, not raise it.
  const wallMs = typeof timeoutMs === "number" ? Math.min(timeoutMs, maxWallMs) : maxWallMs;
  const outcome = await runtime.run(source, { ...options, limits: { ...options.limits, wallMs } });
  return { source, outcome, limits: { cpuMs, wallMs } };
}
