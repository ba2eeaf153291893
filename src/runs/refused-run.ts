import type { Caller } from "../model/caller.ts";
import type { Limits } from "../model/limits.ts";
import type { Outcome, Violation } from "../model/outcome.ts";
import { truncateText } from "../shared/format-text.ts";
import { VERSION } from "../shared/version.ts";
import type { RunEntryRow, RunRow } from "../store/index.ts";
import { createTitle, hashProgram } from "./record-writer.ts";
import { FIRST_HASH, hashEntry, type RecordEvent } from "./run-record.ts";

export type RefusedOutcome = Extract<Outcome, { readonly kind: "refused" }>;

/** A program that was refused, with what its record needs. */
export interface RefusedProgram {
  readonly source: string;
  readonly outcome: RefusedOutcome;
  readonly caller: Caller;
  readonly limits: Limits;
}

/** Bounds of the record of a refused program, in UTF-16 units and violations. */
const MAX_SOURCE_UNITS = 16_384;
const MAX_TEXT_UNITS = 2_000;
const MAX_VIOLATIONS = 20;

/** Eight bytes: no program is executed with them. */
const NO_SEED = Buffer.alloc(8).toString("base64");

/** Creates the record of a program that was refused: its text and the reasons, cut. */
export function createRefusedRun(
  { source, outcome, caller, limits }: RefusedProgram,
  time: number,
): { readonly row: RunRow; readonly entry: RunEntryRow } {
  const { runId: id } = outcome;
  const text = truncateText(source, MAX_SOURCE_UNITS);
  const program = { code: "", paths: [], readOnly: [], waits: [], segments: [] };
  const header = {
    version: VERSION,
    source: text,
    program,
    notes: [],
    seed: NO_SEED,
    time,
    caller,
    limits,
    methods: {},
  };
  const events: readonly RecordEvent[] = [
    { type: "start", header },
    { type: "outcome", outcome: cutOutcome(outcome), time },
  ];
  const json = JSON.stringify(events);
  const nothing = { continues: null, duration: 0, calls: 0, effects: 0, claimedBy: null, attempts: 0 };
  const times = { created: time, updated: time, ended: time };
  return {
    row: {
      id,
      caller: caller.id,
      state: "refused",
      title: createTitle(source),
      program: hashProgram(source),
      size: json.length,
      ...times,
      ...nothing,
    },
    entry: { run: id, seq: 0, events: json, hash: hashEntry(FIRST_HASH, id, 0, json) },
  };
}

function cutOutcome({ violations, text, ...outcome }: RefusedOutcome): RefusedOutcome {
  const cut = truncateText(text, MAX_TEXT_UNITS * 4);
  return { ...outcome, violations: violations.slice(0, MAX_VIOLATIONS).map(cutViolation), text: cut };
}

function cutViolation({ message, frame, fix, suggestions, ...position }: Violation): Violation {
  const cut = (text: string): string => truncateText(text, MAX_TEXT_UNITS);
  return {
    ...position,
    message: cut(message),
    frame: cut(frame),
    fix: cut(fix),
    suggestions: suggestions.slice(0, 5).map(cut),
  };
}
