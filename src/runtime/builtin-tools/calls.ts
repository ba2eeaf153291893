import { setImmediate } from "node:timers/promises";

import type { Limits } from "../../model/limits.ts";
import type { Outcome } from "../../model/outcome.ts";
import { type Cancellable, cancellableBy } from "../../../sandbox/index.ts";
import { createError } from "../../errors.ts";
import type { RunOptions } from "../../runtime.ts";
import type { ResumeRunOptions } from "../execution/runs.ts";
import type { Description, SearchAnswer } from "../../registry/index.ts";
import { parseBuiltinInput } from "./input.ts";
import { getTokensOfEach, joinDescriptions, joinSearches } from "./several-questions.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import type { RuntimeView } from "../api/view.ts";
import type { AutomationProposal, ProposedAutomation } from "../automations/authoring/index.ts";

/**
 * Searches for one query or several after waiting up to `discoveryMs` for servers that are still connecting, and as long
 * for the index. Throws `ARGUMENTS_INVALID`, and `RATE_LIMIT` for a caller whose limits are used up.
 */
export async function searchSkills(view: RuntimeView, args: unknown): Promise<SearchAnswer> {
  const { query, limit, offset } = parseBuiltinInput("search_skills", args);
  await view.countRequest();
  await waitUntilKnown(view);
  await view.index();
  const queries = toList(query);
  const options = {
    limit: Number(limit),
    offset: Number(offset),
    readMs: 0,
    ...getTokensOfEach(queries.length),
  };
  return joinSearches(
    queries,
    queries.map((each) => view.search(each, options)),
  );
}

/** Describes one path or several. Throws `ARGUMENTS_INVALID` and `RATE_LIMIT`. */
export async function describeFunction(view: RuntimeView, args: unknown): Promise<Description> {
  const { path } = parseBuiltinInput("describe_function", args);
  await view.countRequest();
  await waitUntilKnown(view);
  const paths = toList(path);
  return joinDescriptions(
    paths,
    paths.map((each) => view.describe(each)),
  );
}

/** Stores the proposal of an automation, for a person to accept. Throws `ARGUMENTS_INVALID`, `RATE_LIMIT`, and as `propose` does. */
export async function proposeAutomation(
  view: RuntimeView,
  args: unknown,
): Promise<ProposedAutomation & { readonly text: string }> {
  const proposal = parseBuiltinInput("propose_automation", args) as unknown as AutomationProposal; // its schema has checked it
  await view.countRequest();
  const proposed = await view.automations.propose(proposal);
  const { name, calls } = proposed;
  const list = calls.map(({ path, effect }) => `${path} (${effect})`).join(", ") || "no methods";
  const text = `Proposed ${name}, which calls ${list}. It does not run until a person accepts it: skillgate automation accept ${name}`;
  return { ...proposed, text };
}

function waitUntilKnown({ shared }: RuntimeView): Promise<unknown> {
  return waitAtMost(shared.timeouts.discoveryMs, shared.known);
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
export async function runCode(
  view: RuntimeView,
  args: unknown,
  options: Omit<RunOptions, "caller">,
): Promise<EndedRun> {
  const { code, input, timeoutMs, continue: run, again, reuse } = parseBuiltinInput("run_code", args);
  const source = String(code);
  const { cpuMs, wallMs: maxWallMs } = { ...view.shared.limits, ...options.limits };
  // A model may lower the owner's time limit, not raise it.
  const wallMs = typeof timeoutMs === "number" ? Math.min(timeoutMs, maxWallMs) : maxWallMs;
  const fields = {
    ...(input !== undefined && { input }),
    ...(typeof run === "string" && { continue: run }),
    ...(Array.isArray(again) && { again: again.map(Number) }),
    ...(Array.isArray(reuse) && { reuse: reuse.map(Number) }),
  };
  // The check of the arguments and the copy of a large input each take up to half of the time that one turn may take.
  if (input !== undefined) await setImmediate();
  const outcome = await view.run(source, { ...options, ...fields, limits: { ...options.limits, wallMs } });
  return { source, outcome, limits: { cpuMs, wallMs } };
}

/**
 * Waits for a run that waits for a person; resolves to its outcome, or to that it still waits. The end of the wait does not end
 * the run. Throws `ARGUMENTS_INVALID`, `CANCELLED`, and the errors of `runs.resume`.
 */
export async function resumeRun(
  view: RuntimeView,
  args: unknown,
  { signal, ...options }: Omit<ResumeRunOptions, "caller">,
): Promise<Omit<EndedRun, "source">> {
  const id = String(parseBuiltinInput("resume_run", args)["run_id"]);
  const outcome = await untilCancelled(view.runs.resume(id, options), signal);
  return { outcome, limits: view.shared.limits };
}

async function untilCancelled<Value>(
  value: Promise<Value>,
  signal: AbortSignal | Cancellable | undefined,
): Promise<Value> {
  if (signal === undefined) return value;
  const cancellable = "onCancel" in signal ? signal : cancellableBy(signal);
  let stopListening = (): void => {};
  const cancelled = new Promise<never>((_resolve, reject) => {
    const cancel = (): void => reject(createError("CANCELLED", "the request has ended"));
    stopListening = cancellable.onCancel(cancel);
  });
  try {
    return await Promise.race([value, cancelled]);
  } finally {
    stopListening();
  }
}
