import type {
  AnswerCall,
  Cancellable,
  Delivery,
  RunUsage,
  SandboxAnswer,
  SandboxCall,
} from "../../../sandbox/index.ts";
import type { ErrorCode } from "../../errors.ts";
import { sentence, SkillgateError } from "../../errors.ts";
import type { Catalog, Method } from "../../model/catalog.ts";
import {
  type Continuation,
  type ContinueDecision,
  INPUT_PATH,
  type StoredCall,
  LiveCall,
  restoreAnswer,
  type RunRecorder,
  toRecordedAnswer,
  toRecordedArguments,
} from "../../runs/index.ts";
import type { CallTask } from "../../model/skill.ts";
import { type EffectKnowledge, getEffectKnowledge } from "../../model/tools/effects.ts";
import { describeContinuation, type DoubtfulCall, formatCall } from "./describe-continuation.ts";
import type { ContinuationHint } from "./describe-outcome.ts";
import type { RunAccounts } from "./rights/run-accounts.ts";
import { hashDefinition } from "./run-header.ts";
import type { CallLog, RecordedRunCalls } from "./run-calls.ts";

export interface RecordedCallsOptions {
  readonly recorder: RunRecorder;
  readonly catalog: Catalog;
  readonly accounts: RunAccounts;
  /** True if an earlier process executed the program. */
  readonly isResumed: boolean;
  /** True if the run may call methods that have changed since it began. */
  readonly acceptsChanges: boolean;
  /** The failed run that the program continues. */
  readonly continuation?: Continuation | undefined;
  /** Ends the run. */
  readonly stop: (code: ErrorCode, values: string) => void;
  /** Is called when the run begins to wait for a person, and when it does not wait for any. */
  readonly onWait: (isWaiting: boolean) => void;
  /** Is called when a question to a person is stored. */
  readonly onQuestion: () => void;
  readonly requireRights: () => Promise<void>;
}

/** The calls of a run with a record: those that it has an answer for are not made again. */
export class RecordedCalls implements RecordedRunCalls {
  readonly recorded: RecordedRunCalls["recorded"];
  readonly #options: RecordedCallsOptions;
  readonly #live = new Map<number, LiveCall>();
  /** Calls of an earlier process that waited for a task, which is not found yet. */
  readonly #seeking = new Set<number>();
  #waiting = 0;
  /** The call before which the run stops. */
  #doubtful: DoubtfulCall | undefined;
  #log: CallLog | undefined;

  constructor(options: RecordedCallsOptions) {
    this.#options = options;
    const { recorder, isResumed } = options;
    this.recorded = {
      isResumed,
      isLeft: () => recorder.isLeft,
      onQuestion: () => {
        recorder.ask();
        options.onQuestion();
      },
      listMade: () => recorder.listEffects(),
    };
  }

  /** Ends the calls that still wait, for example for a person: the run has ended. */
  close(): void {
    for (const live of this.#live.values()) live.cancel();
  }

  /** Must be called before the first call. */
  setLog(log: CallLog): void {
    this.#log = log;
  }

  readonly answer: AnswerCall = async (call) => {
    const { recorder } = this.#options;
    if (this.#doubtful !== undefined) return new Promise(() => {}); // the run ends when the calls under way have ended
    const found = recorder.find(call.id);
    const args = toRecordedArguments(call.arguments);
    if (found === undefined) {
      const { id, path, site } = call;
      recorder.addCall({ id, path, args, ...(site !== undefined && { site }), isEffect: this.#isEffect(path) });
      return this.#makeOrReuse(call, args);
    }
    if (found.path !== call.path || found.args !== args) return this.#diverge(call, found);
    const live = this.#live.get(call.id);
    if (live !== undefined) return live.attach(call);
    if (found.answer !== undefined) {
      this.#log?.addRecorded(found);
      return restoreAnswer(found.path, found.answer, recorder.header);
    }
    if (found.task !== undefined) this.#seeking.add(call.id);
    else if (found.state === "begun" && !this.#isRepeatable(call.path)) return this.#stopUnknown(call);
    return this.#make(call);
  };

  begin(id: number, argumentsDigest: string, isElsewhere: boolean): Promise<void> {
    if (this.#doubtful !== undefined)
      throw new SkillgateError("CALL_CANCELLED", sentence("CALL_CANCELLED", "the run stops before another call"));
    const { recorder, accounts } = this.#options;
    const facts = { isElsewhere, accounts: accounts.takeUnrecorded() };
    return recorder.begin(id, argumentsDigest, facts).catch((cause: unknown) => {
      if (cause instanceof SkillgateError && cause.code === "RECORD_FAILED") throw cause;
      const values = cause instanceof SkillgateError ? cause.code : "the store does not work";
      throw new SkillgateError("RECORD_FAILED", sentence("RECORD_FAILED", values), {}, { cause });
    });
  }

  getTask(id: number): CallTask {
    const { recorder } = this.#options;
    const seeking = this.#seeking;
    return {
      get earlier() {
        return seeking.has(id) ? recorder.find(id)?.task : undefined;
      },
      keep(task) {
        seeking.delete(id);
        return recorder.keepTask(id, task);
      },
    };
  }

  isBeforeBegin(id: number): boolean {
    return this.#options.recorder.find(id)?.state === "made";
  }

  onWait(): () => void {
    const { onWait } = this.#options;
    if (++this.#waiting === 1) onWait(true);
    return () => {
      if (--this.#waiting === 0) onWait(false);
    };
  }

  requireRights(): Promise<void> {
    return this.#options.requireRights();
  }

  requireUnchanged(method: Method): void {
    const { recorder, isResumed, acceptsChanges } = this.#options;
    if (!isResumed || acceptsChanges) return;
    const before = recorder.header.methods[method.path];
    if (before === undefined || before === hashDefinition(method)) return;
    throw new SkillgateError("METHOD_CHANGED", sentence("METHOD_CHANGED", method.path), {
      skill: method.skill,
      method: method.name,
    });
  }

  /** Resolves when one of the calls has its answer, at the time `until`, or when the run is cancelled. */
  async waitForAnswer(until: number | undefined, cancellable: Cancellable): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let stopListening = (): void => {};
    const cancelled = new Promise<void>((resolve) => {
      stopListening = cancellable.onCancel(resolve);
    });
    const due = new Promise<void>((resolve) => {
      if (until !== undefined) timer = setTimeout(resolve, Math.max(0, until - Date.now()));
    });
    await Promise.race([cancelled, due, ...[...this.#live.values()].map(({ settled }) => settled)]);
    clearTimeout(timer);
    stopListening();
  }

  readonly onDelivery = (delivery: Delivery, used: RunUsage): void =>
    this.#options.recorder.addDelivery(delivery, used);

  /** Returns how a corrected program continues this run, or the run that this one continues. */
  describeContinuation(): ContinuationHint | undefined {
    const { recorder, continuation } = this.#options;
    return describeContinuation(recorder, continuation, this.#doubtful, (path) => this.#getEffect(path));
  }

  /** Makes a new call of the program, or answers it from the run that it continues. */
  async #makeOrReuse(call: SandboxCall, args: string): Promise<SandboxAnswer> {
    const { continuation } = this.#options;
    const { id, path } = call;
    // The corrected program may have an input of its own.
    if (path === INPUT_PATH) return this.#make(call);
    const isEffect = this.#isEffect(path);
    const decision = continuation?.decide({
      id,
      path,
      args,
      isEffect,
      isUnlikely: this.#getEffect(path) === "unlikely",
      isRepeatable: this.#isRepeatable(path),
    });
    switch (decision?.kind) {
      case "reuse":
        return this.#reuse(id, decision);
      case "unsure":
        return this.#stopUnsure({ path, args, decision });
      case "live":
      case undefined:
        return this.#make(call);
    }
  }

  #reuse(id: number, { past, isSameStep }: Extract<ContinueDecision, { kind: "reuse" }>): SandboxAnswer {
    const { recorder } = this.#options;
    const { answer = UNDEFINED, digest, durationMs, number, path, args } = past;
    const origin = `call ${number} of run ${recorder.header.continues}`;
    const notes = isSameStep ? [] : [`${formatCall(path, args)} was not made again: its result is that of ${origin}`];
    // A call with an unknown end that counts as made has no result.
    const result = answer.ok ? answer : UNDEFINED;
    recorder.addEnd({ id, answer: result, digest, durationMs, outcome: "ok", notes, from: number });
    const call = recorder.find(id);
    if (call !== undefined) this.#log?.addRecorded(call);
    return result;
  }

  /** Ends the run before a call, when the calls under way have had their effects. */
  async #stopUnsure(doubtful: DoubtfulCall): Promise<SandboxAnswer> {
    this.#doubtful = doubtful;
    const begun = [...this.#live].filter(([id]) => this.#options.recorder.find(id)?.state === "begun");
    await Promise.all(begun.map(([, live]) => live.settled));
    this.#options.stop("CONTINUE_UNSURE", formatCall(doubtful.path, doubtful.args));
    return STOPPED;
  }

  async #make(call: SandboxCall): Promise<SandboxAnswer> {
    const log = this.#log;
    if (log === undefined) throw new TypeError("The calls of the run have no log");
    const live = new LiveCall(call);
    this.#live.set(call.id, live);
    return live.start(async () => {
      let answer = await log.answer(live);
      if (this.#seeking.delete(call.id)) {
        // The task was not found: the call is like one that has none.
        if (!this.#isRepeatable(call.path)) return this.#stopUnknown(call);
        answer = await log.answer(live);
      }
      const { durationMs = 0, argumentsDigest = "", outcome } = log.getRecord(call.id) ?? {};
      this.#options.recorder.addEnd({
        id: call.id,
        answer: toRecordedAnswer(call.path, answer),
        digest: argumentsDigest,
        durationMs,
        ...(outcome !== undefined && { outcome }),
        notes: log.getNotes(call.id),
      });
      this.#live.delete(call.id);
      return answer;
    });
  }

  #isEffect(path: string): boolean {
    const method = this.#options.catalog.method(path);
    return method !== undefined && !method.metadata.readOnly;
  }

  #getEffect(path: string): EffectKnowledge {
    const method = this.#options.catalog.method(path);
    return method === undefined ? "possible" : getEffectKnowledge(method);
  }

  /** True if a second call does no harm. */
  #isRepeatable(path: string): boolean {
    const method = this.#options.catalog.method(path);
    if (method === undefined) return false;
    const { metadata, definition } = method;
    return metadata.readOnly || metadata.idempotent || definition.recognizesRepeats === true;
  }

  #diverge({ id, path }: SandboxCall, found: StoredCall): SandboxAnswer {
    const what = found.path === path ? "other arguments" : `${found.path} in its place`;
    this.#options.stop("REPLAY_DIVERGED", `call ${id} of ${path} is recorded with ${what}`);
    return STOPPED;
  }

  #stopUnknown({ id, path, arguments: json }: SandboxCall): SandboxAnswer {
    const { recorder, stop } = this.#options;
    const args = toRecordedArguments(json);
    stop("CALL_END_UNKNOWN", `${path}, call ${id}, with the arguments ${args.slice(0, 200)}; run ${recorder.id}`);
    return STOPPED;
  }
}

const UNDEFINED: SandboxAnswer = { ok: true, json: '{"$undefined":1}', tagged: true };

/** The answer of a call whose run ends at once: the program does not read it. */
const STOPPED: SandboxAnswer = { ok: false, error: { name: "CallError", code: "CALL_CANCELLED", message: "" } };
