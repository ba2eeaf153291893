import { sentence, SkillgateError } from "../../errors.ts";
import type { UsableAccounts } from "../../model/account.ts";
import {
  type Claims,
  Continuation,
  type ContinueAnswers,
  createHistory,
  type History,
  isIncomplete,
  type RunRecord,
  readRunRecord,
} from "../../runs/index.ts";
import type { Database, RunRow } from "../../store/index.ts";
import { whyOtherAccounts } from "./rights/run-accounts.ts";
import { listRequestKeys, type RequestKeys } from "./request-keys.ts";
import type { RunRequest } from "./run-services.ts";

/** How a corrected program continues a run that has failed. */
export interface ContinueRequest extends Partial<ContinueAnswers> {
  /** The id of the run. */
  readonly run: string;
}

/** A run that is being continued: no other program continues it meanwhile. */
export interface OpenContinuation {
  readonly continuation: Continuation;
  /** The seed, the start and the input of the run. */
  readonly header: Pick<RunRecord["header"], "seed" | "time" | "input" | "isForeignInput">;
  release(): Promise<void>;
}

type RunStore = Pick<Database, "runs">;

interface ContinuationParts {
  readonly store: RunStore;
  readonly claims: Claims;
  readonly accounts: UsableAccounts;
}

/** Reads a failed run of the caller, and claims it. Throws `CONTINUE_INVALID`, `RUN_BUSY`, `RUN_DAMAGED`, `RUN_INCOMPLETE`. */
export async function openContinuation(
  { run, again = [], reuse = [] }: ContinueRequest,
  { caller, catalog, observer }: Pick<RunRequest, "caller" | "catalog" | "observer">,
  { store, claims, accounts }: ContinuationParts,
): Promise<OpenContinuation> {
  const { runs } = store;
  const row = await runs.get(run);
  if (row === undefined || row.caller !== caller.id)
    throw createInvalidError(`run "${run.slice(0, 100)}" is not recorded; send the program without continue`);
  requireFailed(row);
  const { record, history } = await readHistory(run, store);
  requireSameValues(history, record.header.requestKeys, listRequestKeys(catalog, observer?.requestValues));
  const why = await whyOtherAccounts(record.accounts, caller, accounts);
  if (why !== undefined) throw createInvalidError(`${why}; send the program without continue`);
  const continuation = new Continuation(history, { again, reuse });
  requireNumbers([...again, ...reuse], history);
  if (!(await claims.claim(row)))
    throw new SkillgateError("RUN_BUSY", sentence("RUN_BUSY", `run ${run} is being continued by another program`));
  try {
    await requireLast(run, store);
  } catch (error) {
    await claims.release(run);
    throw error;
  }
  return { continuation, header: record.header, release: () => claims.release(run) };
}

/** Restores the continuation of a run that another process began. `undefined` for a run that continues no other. */
export async function restoreContinuation(
  { header, calls }: Pick<RunRecord, "header" | "calls">,
  store: RunStore,
): Promise<Continuation | undefined> {
  if (header.continues === undefined) return undefined;
  const { history } = await readHistory(header.continues, store);
  const used = [...calls.values()].flatMap(({ from }) => from ?? []);
  return new Continuation(history, { again: header.again ?? [], reuse: header.reuse ?? [] }, used);
}

/** Reads what a run and the runs that it continued have done. */
async function readHistory(
  run: string,
  store: RunStore,
): Promise<{ readonly record: RunRecord; readonly history: History }> {
  const entries = await store.runs.entries(run);
  if (entries.length === 0) throw createInvalidError(`run ${run}, which was continued, is not in the store any more`);
  const record = await readRunRecord(run, entries);
  if (isIncomplete(record)) throw new SkillgateError("RUN_INCOMPLETE", sentence("RUN_INCOMPLETE", `run ${run}`));
  const { continues } = record.header;
  const earlier = continues === undefined ? undefined : (await readHistory(continues, store)).history;
  return { record, history: createHistory(run, record, earlier) };
}

function requireFailed({ id, state, ended }: RunRow): void {
  if (ended === null)
    throw createInvalidError(
      `run ${id} has not ended; its result comes from resume_run, or: skillgate runs resume ${id}`,
    );
  if (state === "completed") throw createInvalidError(`run ${id} has completed; send the program without continue`);
}

/**
 * The results of calls that depend on values of a request answer no other request. The keys of another process differ, so that
 * a run with such calls is not continued after its end.
 */
function requireSameValues({ own, inherited }: History, before: RequestKeys = {}, now: RequestKeys = {}): void {
  const skills = [...own.values(), ...inherited].map(({ path }) => path.split(".")[0] ?? "");
  const other = skills.find((skill) => before[skill] !== now[skill]);
  if (other === undefined) return;
  const why = `${other} takes other values from this request, or an earlier process has called it`;
  throw createInvalidError(`${why}; send the program without continue`);
}

/** Each number must name a call that may have had an effect. */
function requireNumbers(numbers: readonly number[], { own, inherited }: History): void {
  const effects = [...own.values(), ...inherited].filter(({ isEffect, end }) => isEffect && end !== "failed");
  const wrong = numbers.find((number) => !effects.some((call) => call.number === number));
  if (wrong === undefined) return;
  const list = effects.map(({ number, path }) => `${number} (${path})`).join(", ");
  throw createInvalidError(
    `again and reuse have the number ${wrong}, and the calls with an effect are ${list || "none"}`,
  );
}

/** A run that was continued with an effect can only be continued from there: else that effect would be made again. */
async function requireLast(run: string, { runs }: RunStore): Promise<void> {
  for (const next of await runs.list({ continues: run })) {
    const { calls } = await readRunRecord(next.id, await runs.entries(next.id));
    const hasEffects = [...calls.values()].some(({ isEffect, beginTime }) => isEffect && beginTime !== undefined);
    if (next.ended === null || hasEffects)
      throw createInvalidError(
        `run ${run} was continued by run ${next.id}; send the program with continue: "${next.id}"`,
      );
  }
}

function createInvalidError(values: string): SkillgateError {
  return new SkillgateError("CONTINUE_INVALID", sentence("CONTINUE_INVALID", values));
}
