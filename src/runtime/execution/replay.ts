import { findProgramPosition, type SandboxOutcome } from "../../../sandbox/index.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import { type Caller, OWNER, requireCaller } from "../../model/caller.ts";
import { createKeptResults } from "../../model/kept-results.ts";
import type { CallRecord, Outcome } from "../../model/outcome.ts";
import type { Program } from "../../model/program.ts";
import {
  type Cassette,
  createCassette,
  isIncomplete,
  restoreOutcome,
  type RunRecord,
  type StoredOutcome,
  toStoredOutcome,
} from "../../runs/index.ts";
import { createRunInput } from "../../shared/json/run-input.ts";
import { isBuiltin } from "../builtin-calls.ts";
import { createOutcome } from "../outcome/index.ts";
import type { ResultHandles } from "../../model/kept-results.ts";
import { maskOutcome, sandboxOptions } from "./describe-outcome.ts";
import { findOutcomeDifference } from "./outcome-difference.ts";
import { ReplayedCalls } from "./replayed-calls.ts";
import { toCallRecord } from "./run-calls.ts";
import { withRecordedSkills } from "./recorded-catalog.ts";
import { readProgram } from "./run-header.ts";
import type { RunRequest, RunServices } from "./run-services.ts";

export interface ReplayOptions {
  /** On whose behalf a recorded run is read. The owner by default. */
  readonly caller?: Caller;
  /**
   * Another text of the program, which is to make the same calls: it is checked against the catalog of the runtime. Its texts in
   * query languages are not, because they are the recorded ones, and the schema may have changed since.
   */
  readonly source?: string;
  /** Another input than the recorded one. The program is to make the same calls; its outcome may be another one. */
  readonly input?: unknown;
}

/** Repeats recorded runs. */
export interface RunReplays {
  /** Returns all that a replay of a run needs. Throws `RUN_NOT_FOUND`, `RUN_DAMAGED`. */
  cassette(id: string, options?: Pick<ReplayOptions, "caller">): Promise<Cassette>;
  /**
   * Executes the program of a run again with the recorded answers, without providers or network, and compares the outcome.
   * Resolves to it; to `undefined` for a run that has not ended. Throws `REPLAY_DIVERGED`, which names the first difference,
   * `RUN_NOT_FOUND`, `RUN_DAMAGED`, `RUN_INCOMPLETE`.
   */
  replay(run: string | Cassette, options?: ReplayOptions): Promise<Outcome | undefined>;
  /**
   * Returns the cassette of another text of its program, which must do the same. Throws as `replay` does, and the first reason why the
   * text is refused.
   */
  withSource(cassette: Cassette, source: string): Promise<Cassette>;
}

interface ReplaysOptions {
  readonly readRunRecord: (id: string, options: Pick<ReplayOptions, "caller">) => Promise<RunRecord>;
  readonly services: RunServices;
  readonly createRequest: (options: Pick<RunRequest, "caller" | "limits">) => RunRequest;
}

export function createReplays({ readRunRecord, services, createRequest }: ReplaysOptions): RunReplays {
  const read: RunReplays["cassette"] = async (id, options = {}) => createCassette(id, await readRunRecord(id, options));
  const check = (source: string, cassette: Cassette): ReplayProgram =>
    checkOtherText(source, withRecordedSkills(cassette, createRequest(pickFacts(cassette))), services);
  return {
    cassette: read,
    async withSource(cassette, source) {
      const checked = check(source, cassette);
      const outcome = await replayCassette(cassette, checked, { ...services, replayer: OWNER });
      const { toSourcePosition: _ofThisProcess, ...program } = checked.program;
      return {
        ...cassette,
        header: { ...cassette.header, source, program, notes: checked.notes },
        // Places in the code of the earlier text.
        calls: cassette.calls.map(({ site: _site, ...call }) => call),
        ...(outcome !== undefined && { outcome: toStoredOutcome(outcome) }),
      };
    },
    async replay(run, { source, input, ...options } = {}) {
      const recorded = typeof run === "string" ? await read(run, options) : run;
      const program = source === undefined ? readRecordedProgram(recorded) : check(source, recorded);
      const parts = { ...services, replayer: requireCaller(options.caller) };
      if (input === undefined) return replayCassette(recorded, program, parts);
      const { value } = createRunInput(input, false);
      const cassette = { ...recorded, header: { ...recorded.header, input: value } };
      return replayCassette(cassette, { ...program, hasOtherInput: true }, parts);
    },
  };
}

function pickFacts({ header: { caller, limits } }: Cassette): Pick<RunRequest, "caller" | "limits"> {
  return { caller, limits };
}

/** The program that is executed: the recorded one, or another text of it. */
interface ReplayProgram {
  readonly source: string;
  readonly program: Program;
  readonly notes: readonly string[];
  /** True for another text than the recorded one: then remarks on the text may differ. */
  readonly isOtherText: boolean;
  /** True for another input than the recorded one: then the outcome may differ. */
  readonly hasOtherInput?: boolean;
}

/**
 * Executes a program with the recorded answers and clock: without providers, network or store. Resolves to its outcome, which is
 * the recorded one; to `undefined` if the run has not ended. Throws `REPLAY_DIVERGED`, which names the first difference, and
 * `RUN_INCOMPLETE`.
 */
async function replayCassette(
  cassette: Cassette,
  { source, program, notes, isOtherText, hasOtherInput = false }: ReplayProgram,
  { sandbox: engine, secrets, replayer }: Pick<RunServices, "sandbox" | "secrets"> & { readonly replayer: Caller },
): Promise<Outcome | undefined> {
  const { run, header, deliveries, outcome: stored } = cassette;
  const { caller, limits, seed, time } = header;
  if (stored?.kind === "refused") return restoreOutcome(stored); // nothing was executed
  if (isIncomplete(cassette)) throw new SkillgateError("RUN_INCOMPLETE", sentence("RUN_INCOMPLETE", `run ${run}`));
  const calls = new ReplayedCalls(cassette, { isWhole: stored !== undefined && !isInterruption(stored) });
  const sandbox = await engine.run({ ...program, seed: Buffer.from(seed, "base64"), time, deliveries }, calls.answer, {
    ...sandboxOptions({ caller: replayer, limits }, secrets),
    cancellable: calls.cancellation,
    suspend: AbortSignal.abort(),
    onDelivery: () => void calls.stop(), // the record ends here
  });
  const difference = describeDifference(calls, program) ?? findEarlyEnd(sandbox, calls);
  if (difference !== undefined) throw createDivergence(run, difference);
  const isOpen = sandbox.end.kind === "suspended" || calls.cancellation.isCancelled || isOutOfTime(sandbox);
  if (isOpen && stored === undefined) return undefined;
  if (isOpen && stored !== undefined && !isInterruption(stored))
    throw createDivergence(run, "the program waits where its recorded end is");
  const ending = { runId: run, caller, source, program, limits, secrets, results: createKeptResults() };
  const replayed = maskOutcome(
    createOutcome({
      ...ending,
      sandbox: isOpen ? { ...sandbox, end: { kind: "stopped", reason: "CANCELLED" } } : sandbox,
      calls: listCalls(calls, stored),
      notes: [...notes, ...listNotes(calls, stored)],
      handles: createRecordedHandles(stored),
      cancelReason: undefined,
    }),
    secrets,
  );
  if (stored === undefined || hasOtherInput) return replayed;
  const outcome = addRecordedTexts(replayed, secrets.maskValue(stored), isOpen);
  const found = findOutcomeDifference(toStoredOutcome(outcome), secrets.maskValue(stored), { isOtherText });
  if (found !== undefined) throw createDivergence(run, found);
  return outcome;
}

/** The program as it was executed. */
function readRecordedProgram({ header }: Cassette): ReplayProgram {
  return { source: header.source, program: readProgram(header), notes: header.notes, isOtherText: false };
}

/** Another text of a program, checked against the methods of the runtime. Throws the first reason why it is refused. */
function checkOtherText(source: string, request: RunRequest, { inspect }: Pick<RunServices, "inspect">): ReplayProgram {
  const { program, violations, notes } = inspect(source, request);
  if (program !== undefined) return { source, program, notes, isOtherText: true };
  const [violation] = violations;
  if (violation === undefined) throw new TypeError("A text without a program has a violation");
  throw new SkillgateError(violation.code, violation.message);
}

/** Describes the first call that differs, with its line. */
function describeDifference(
  { difference, differenceSite: site }: ReplayedCalls,
  { code, toSourcePosition }: Program,
): string | undefined {
  const found = site === undefined ? undefined : findProgramPosition(site, code);
  if (difference === undefined || found === undefined) return difference;
  return `${difference} (line ${toSourcePosition(found.line, found.column).line})`;
}

function findEarlyEnd({ end }: SandboxOutcome, calls: ReplayedCalls): string | undefined {
  return end.kind === "stopped" && end.reason === "REPLAY_DIVERGED" ? calls.describeMissingCall() : undefined;
}

function createDivergence(run: string, what: string): SkillgateError {
  return new SkillgateError("REPLAY_DIVERGED", sentence("REPLAY_DIVERGED", `run ${run}: ${what}`), { run });
}

/** The ends that the host brings about, at a time that the program does not determine. */
const INTERRUPTIONS: ReadonlySet<string> = new Set([
  "CANCELLED",
  "CPU_LIMIT",
  "WALL_LIMIT",
  "CALL_END_UNKNOWN",
  "RESUME_LIMIT",
  "CONTINUE_UNSURE",
  "REPLAY_DIVERGED",
]);

/** A program without an end reaches another limit in a replay, which does not wait. */
function isOutOfTime({ end }: SandboxOutcome): boolean {
  return end.kind === "stopped" && INTERRUPTIONS.has(end.reason);
}

function isInterruption(stored: StoredOutcome): boolean {
  const error: unknown = "error" in stored ? stored.error : undefined;
  return typeof error === "object" && error !== null && "code" in error && INTERRUPTIONS.has(String(error.code));
}

type FailedOutcome = Extract<Outcome, { readonly kind: "failed" }>;

/** The calls of methods in their order. How long a call without an answer lasted is a fact of the record. */
function listCalls(calls: ReplayedCalls, stored: StoredOutcome | undefined): readonly CallRecord[] {
  const recorded = (stored as Partial<Pick<FailedOutcome, "calls">> | undefined)?.calls ?? [];
  return [...calls.repeated.values()]
    .toSorted((a, b) => a.id - b.id)
    .filter(({ path }) => !isBuiltin(path))
    .map((call) => {
      const found = calls.isDelivered(call.id) ? undefined : recorded.find(({ id }) => id === call.id);
      return found ?? toCallRecord(call);
    });
}

/** The remarks of the calls, in the order of the record. */
function listNotes(calls: ReplayedCalls, stored: StoredOutcome | undefined): readonly string[] {
  const recorded = (stored as Partial<Pick<FailedOutcome, "notes">> | undefined)?.notes ?? [];
  const notes = [...new Set([...calls.repeated.values()].flatMap((call) => call.notes))];
  return notes.toSorted((a, b) => recorded.indexOf(a) - recorded.indexOf(b));
}

/** The name of a large result is a fact of the record: it depends on earlier runs. */
function createRecordedHandles(stored: StoredOutcome | undefined): ResultHandles {
  const handle = /device\.result\("(\w+)"\)/.exec(stored?.text ?? "")?.[1];
  return { keep: () => handle, get: () => undefined, list: () => [] };
}

/** Adds what the host has written below an error: the declarations of methods, how to continue, or why it ended the run. */
function addRecordedTexts(outcome: Outcome, stored: StoredOutcome, isOpen: boolean): Outcome {
  if (outcome.kind !== "failed" || stored.kind !== "failed") return outcome;
  const { error, text, notes, output: printed, continue: run } = stored as FailedOutcome;
  const continued = run === undefined ? {} : { continue: run };
  // A program that was not executed any more has printed nothing.
  const output = error.code === "RESUME_LIMIT" ? printed : outcome.output;
  if (isOpen) return { ...outcome, error, output, text, notes, ...continued };
  return text.startsWith(`${outcome.text}\n\n`) ? { ...outcome, text, ...continued } : outcome;
}
