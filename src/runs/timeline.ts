import { findProgramPosition } from "../../sandbox/index.ts";
import { createPositionMap } from "../gatekeeper/index.ts";
import type { ApprovalFacts } from "../store/index.ts";
import type { RunRecord } from "./run-record.ts";

/** A call on the timeline of its run. Times are in milliseconds since the run began. */
export interface TimelineCall {
  readonly id: number;
  readonly path: string;
  /** The line of the call in the source; missing if it is not known. */
  readonly line?: number;
  readonly arguments: string;
  readonly isEffect: boolean;
  readonly end: "ok" | "error" | "refused" | "unfinished";
  readonly from: number;
  /** Missing for a call without an end. */
  readonly to?: number;
  /** When a person was asked. */
  readonly waits: readonly { readonly from: number; readonly to?: number; readonly approval: string }[];
}

/** Orders the calls of a record by their numbers, with the times of their questions to persons. */
export function createTimeline(
  { header, calls }: Pick<RunRecord, "header" | "calls">,
  approvals: readonly ApprovalFacts[],
): readonly TimelineCall[] {
  const since = (time: number): number => Math.max(0, time - header.time);
  const findLine = createLineFinder(header);
  return [...calls.values()]
    .toSorted((a, b) => a.id - b.id)
    .map((call) => {
      const { id, path, args, site, isEffect, outcome, answer, time, endTime } = call;
      const line = findLine(site);
      const own = approvals.filter(({ callId }) => callId === id);
      return {
        id,
        path,
        ...(line !== undefined && { line }),
        arguments: args,
        isEffect,
        end: outcome ?? (answer === undefined ? "unfinished" : answer.ok ? "ok" : "error"),
        from: since(time),
        ...(endTime !== undefined && { to: since(endTime) }),
        waits: own.map((approval) => createWait(approval, since)),
      };
    });
}

/** Returns a function that finds the line of a place in the code of the program. */
function createLineFinder({ program, source }: RunRecord["header"]): (site: string | undefined) => number | undefined {
  const toSourcePosition = createPositionMap(program.code, program.segments, source);
  return (site) => {
    const found = site === undefined ? undefined : findProgramPosition(site, program.code);
    return found && toSourcePosition(found.line, found.column).line;
  };
}

function createWait(
  { id, created, answeredAt, state, expires }: ApprovalFacts,
  since: (time: number) => number,
): TimelineCall["waits"][number] {
  const end = state === "pending" ? undefined : (answeredAt ?? expires);
  return { approval: id, from: since(created), ...(end !== undefined && { to: since(end) }) };
}
