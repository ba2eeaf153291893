import { isRecord } from "../../model/json.ts";
import type { Problem } from "../../model/provider.ts";
import { type AuditSettings, parseAuditSettings } from "./audit.ts";
import type { RuntimeOptions } from "../options.ts";
import { findProblem, requireOption } from "./invalid.ts";

/** The settings `runs.record` and `approvals.holdSeconds`. */
export interface RunSettings {
  /** The runs that have a record: those that can have an effect or wait for a person, all, or none. */
  readonly record: "off" | "effects" | "full";
  /** Milliseconds that a run which waits for a person keeps its memory, and its caller waits for it. */
  readonly holdMs: number;
  /** Passes after which a saved skill is not marked as saved any more. */
  readonly savedPasses: number;
}

export const DEFAULT_HOLD_SECONDS = 25;
export const MAX_HOLD_SECONDS = 86_400;

export const DEFAULT_SAVED_PASSES = 3;
export const MAX_SAVED_PASSES = 1_000;

const PASSES_FORM = `runs.savedPasses must be a whole number from 1 to ${MAX_SAVED_PASSES}`;
const RECORD_FORM = "runs.record must be off, effects or full";
const HOLD_FORM = `approvals.holdSeconds must be a number above 0 and up to ${MAX_HOLD_SECONDS}`;

/** The settings of everything that is recorded, and their problems. */
export function parseRecordSettings(
  settings: Readonly<Record<string, unknown>>,
  options: RuntimeOptions,
): AuditSettings & { readonly runs: RunSettings } {
  const { problems, ...audit } = parseAuditSettings(settings, options.audit);
  const { problems: runProblems, ...runs } = parseRunSettings(settings, options);
  return { ...audit, runs, problems: [...problems, ...runProblems] };
}

/** Options replace settings. A setting that is not valid keeps its default; an option that is not valid is thrown. */
function parseRunSettings(
  { runs, approvals }: Readonly<Record<string, unknown>>,
  options: Pick<RuntimeOptions, "runs" | "approvals">,
): RunSettings & { readonly problems: readonly Problem[] } {
  const record = parseRecord(runs);
  const holdSeconds = parseHold(approvals);
  const savedPasses = parsePasses(runs);
  return {
    record: requireOption(options.runs?.record, parseRecord(options.runs), RECORD_FORM) ?? record ?? "effects",
    holdMs:
      (requireOption(options.approvals?.holdSeconds, parseHold(options.approvals), HOLD_FORM) ??
        holdSeconds ??
        DEFAULT_HOLD_SECONDS) * 1_000,
    savedPasses:
      requireOption(options.runs?.savedPasses, parsePasses(options.runs), PASSES_FORM) ??
      savedPasses ??
      DEFAULT_SAVED_PASSES,
    problems: [
      ...findProblem(record, RECORD_FORM),
      ...findProblem(holdSeconds, HOLD_FORM),
      ...findProblem(savedPasses, PASSES_FORM),
    ],
  };
}

/** `undefined` for a section that is not valid. */
function parseRecord(section: unknown): RunSettings["record"] | undefined {
  if (section === undefined || section === null) return "effects";
  const { record = "effects" } = isRecord(section) ? section : { record: section };
  const text = record === false ? "off" : record;
  return text === "off" || text === "effects" || text === "full" ? text : undefined;
}

function parsePasses(section: unknown): number | undefined {
  const { savedPasses = DEFAULT_SAVED_PASSES } = isRecord(section) ? section : {};
  const isValid = Number.isInteger(savedPasses) && Number(savedPasses) > 0 && Number(savedPasses) <= MAX_SAVED_PASSES;
  return isValid ? Number(savedPasses) : undefined;
}

function parseHold(section: unknown): number | undefined {
  const { holdSeconds = DEFAULT_HOLD_SECONDS } = isRecord(section) ? section : {};
  const isValid = typeof holdSeconds === "number" && holdSeconds > 0 && holdSeconds <= MAX_HOLD_SECONDS;
  return isValid ? holdSeconds : undefined;
}
