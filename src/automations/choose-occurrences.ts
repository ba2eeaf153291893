import type { OccurrenceChange, OccurrenceRow, OpenOccurrences } from "../store/index.ts";
import type { ScheduleOverlap } from "./schedule/index.ts";

/** How many occurrences of an automation run, and when. */
export interface StartRules {
  /** Treatment of a slot while an occurrence runs. */
  readonly overlap: ScheduleOverlap;
  /** The most occurrences that run at the same time. */
  readonly parallel: number;
  readonly runsPerHour: number;
}

export interface StartContext {
  /** The name of this process. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Why nothing of an automation begins: it is paused, held or gone. */
export interface StartObstacle {
  readonly obstacle: string;
}

/** The most slots that wait with `overlap: queue`; later ones are skipped. */
export const MAX_QUEUED = 20;

/** Skips the due slots of an automation that begins nothing. Its deliveries wait. */
export function skipSlots(
  { due }: OpenOccurrences,
  { obstacle }: StartObstacle,
  now: number,
): readonly OccurrenceChange[] {
  const changes = { state: "skipped", ended: now, error: obstacle } as const;
  return due.flatMap(({ id, kind }) => (kind === "slot" ? [{ id, changes }] : []));
}

/** Decides which due occurrences of one automation begin, which are skipped, and which running ones end for them. */
export function chooseOccurrences(
  { active, due, startedInHour }: OpenOccurrences,
  rules: StartRules,
  { by, now }: StartContext,
): readonly OccurrenceChange[] {
  const changes: OccurrenceChange[] = [];
  let running = [...active];
  let started = startedInHour;
  let queued = 0;
  for (const row of due) {
    const decision = decide(row, { running, queued, isExhausted: started >= rules.runsPerHour }, rules);
    if (decision.kind === "wait") {
      if (row.kind === "slot") queued++;
      continue;
    }
    if (decision.kind === "skip") {
      changes.push({ id: row.id, changes: { state: "skipped", ended: now, error: decision.why } });
      continue;
    }
    if (decision.kind === "replace") {
      const error = `the slot ${row.id} began, and overlap is cancel`;
      const slots = running.filter(({ kind }) => kind === "slot");
      // Their claims stay until their runs have ended. Deliveries are not lost for a slot.
      changes.push(
        ...slots.map(({ id, claimedBy }) => ({
          id,
          changes: { state: "cancelled", ended: now, error, claimedBy: claimedBy ?? by } as const,
        })),
      );
      running = running.filter(({ kind }) => kind !== "slot");
    }
    changes.push({ id: row.id, changes: { state: "running", started: now, claimedBy: by } });
    running.push(row);
    started++;
  }
  return changes;
}

type StartDecision = { readonly kind: "start" | "wait" | "replace" } | { readonly kind: "skip"; readonly why: string };

interface Situation {
  readonly running: readonly OccurrenceRow[];
  readonly queued: number;
  /** True if no further occurrence may begin in this hour. */
  readonly isExhausted: boolean;
}

function decide(
  { kind }: OccurrenceRow,
  { running, queued, isExhausted }: Situation,
  { overlap, parallel, runsPerHour }: StartRules,
): StartDecision {
  const [first] = running;
  if (kind !== "slot") return { kind: isExhausted || running.length >= parallel ? "wait" : "start" };
  if (isExhausted) return { kind: "skip", why: `limits.runsPerHour: ${runsPerHour} runs began in the last hour` };
  if (first === undefined) return { kind: "start" };
  switch (overlap) {
    case "skip":
      return { kind: "skip", why: `the run of ${first.id} has not ended, and overlap is skip` };
    case "cancel":
      return { kind: running.some((other) => other.kind === "slot") || running.length < parallel ? "replace" : "wait" };
    case "parallel":
      return { kind: running.length < parallel ? "start" : "wait" };
    case "queue":
      if (queued < MAX_QUEUED) return { kind: "wait" };
      return { kind: "skip", why: `${MAX_QUEUED} slots wait already, and overlap is queue` };
  }
}
