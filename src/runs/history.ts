import type { Delivery, SandboxAnswer } from "../../sandbox/index.ts";
import type { RunRecord, StoredCall } from "./run-record.ts";

/** `failed`: without an effect. `unknown`: the provider was invoked, and may have had its effect without saying so. */
export type PastEnd = "ok" | "failed" | "unknown";

/** A call of a run that has failed, or of the runs that it continued. */
export interface PastCall {
  /** Names the call in `again` and `reuse`. */
  readonly number: number;
  /** Names the call in all histories that contain it. */
  readonly key: string;
  readonly path: string;
  /** JSON of the list of arguments, or its digest. */
  readonly args: string;
  readonly isEffect: boolean;
  readonly end: PastEnd;
  readonly answer: SandboxAnswer | undefined;
  /** Digest of the validated arguments by name. */
  readonly digest: string;
  readonly durationMs: number;
}

/** The calls that a corrected program must not repeat. */
export interface History {
  readonly run: string;
  /** The calls of the run itself, by their numbers. */
  readonly own: ReadonlyMap<number, PastCall>;
  /** The effects of the runs that it continued and did not use, with numbers after its own. */
  readonly inherited: readonly PastCall[];
  readonly deliveries: readonly Delivery[];
}

/** Creates the history of a run. `earlier` is the history of the run that it continued. */
export function createHistory(
  run: string,
  { calls, deliveries, header }: Pick<RunRecord, "calls" | "deliveries" | "header">,
  earlier?: History,
): History {
  const own = new Map([...calls].map(([number, call]) => [number, toPastCall(run, call)]));
  const last = Math.max(0, ...own.keys());
  const used = new Set([...calls.values()].map(({ from }) => from));
  const livePaths = new Set([...calls.values()].filter(({ from }) => from === undefined).map(({ path }) => path));
  const again = new Set(header.again);
  const isLeft = ({ number, path, isEffect, end }: PastCall): boolean =>
    isEffect && end !== "failed" && !used.has(number) && !(again.has(number) && livePaths.has(path));
  const left = earlier === undefined ? [] : [...earlier.own.values(), ...earlier.inherited].filter(isLeft);
  const inherited = left.map((call, index) => ({ ...call, number: last + 1 + index }));
  return { run, own, inherited, deliveries };
}

function toPastCall(run: string, call: StoredCall): PastCall {
  const { id, path, args, isEffect, answer, digest = "", durationMs } = call;
  return { number: id, key: `${run}/${id}`, path, args, isEffect, end: getPastEnd(call), answer, digest, durationMs };
}

/** Errors of the host that say nothing about what the provider did. */
const SILENT_ERRORS: ReadonlySet<unknown> = new Set(["CALL_TIMEOUT", "CALL_CANCELLED", "SERVER_GONE", "ANSWER_LIMIT"]);

/** Returns how a call ended, as far as its effect is concerned. */
export function getPastEnd({ answer, beginTime }: Pick<StoredCall, "answer" | "beginTime">): PastEnd {
  if (answer?.ok === true) return "ok";
  const isSilent = answer === undefined || SILENT_ERRORS.has(answer.error["code"]);
  return beginTime !== undefined && isSilent ? "unknown" : "failed";
}
