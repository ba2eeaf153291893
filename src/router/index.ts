import { SkillgateError } from "../errors.ts";
import { NO_ACCOUNTS, type UsableAccounts } from "../model/account.ts";
import type { Caller } from "../model/caller.ts";
import type { Method, Skill } from "../model/catalog.ts";
import { NO_POLICY, type Policy } from "../model/policy.ts";
import { KnownSecrets } from "../shared/secrets.ts";
import { type AuditWriter, createLazyDatabase } from "../store/index.ts";
import type { Validator } from "../validation/index.ts";
import { type CallCounter, createCallCounter } from "./call-counter.ts";
import { countRequest, type RequestUnit, type UnrecordedRequest } from "./caller-limits.ts";
import {
  type Call,
  type CallElsewhere,
  guardedCall,
  type Guard,
  type GuardedCall,
  type Handler,
  type Route,
} from "./call.ts";
import { dispatch, type SkillResources, NO_RESOURCES } from "./dispatch.ts";
import { approval, type DecideApproval } from "./guards/approval.ts";
import { accounts } from "./guards/accounts.ts";
import { audit, recordDecision } from "./guards/audit.ts";
import { cache } from "./guards/cache.ts";
import { decided } from "./guards/decided.ts";
import { enabled } from "./guards/enabled.ts";
import { limits } from "./guards/limits.ts";
import { permission } from "./guards/permission.ts";
import { requestValues } from "./guards/request-values.ts";
import { timeout } from "./guards/timeout.ts";
import { trace } from "./guards/trace.ts";
import { validate } from "./guards/validate.ts";
import { createSecretViews, type PlaceholderOptions } from "./secret-placeholders.ts";
import { createSharedCounter, type SharedCounter } from "./shared-counter.ts";
import { createAuditLog, type AuditEntry, type Statistics } from "./audit-log.ts";

export type { Call, CallElsewhere, RecordedPlace, Route } from "./call.ts";
export type { UsedAccount } from "./used-accounts.ts";
export type { CallCounter } from "./call-counter.ts";
export type { RequestUnit, UnrecordedRequest } from "./caller-limits.ts";
export type { ApprovalDetails, CallToApprove, DecideApproval } from "./guards/approval.ts";
export { recordResults } from "./provenance.ts";
export { answerTo, type CallResult, runCalls } from "./run-calls.ts";
export { createSharedCounter, type SharedCounter } from "./shared-counter.ts";
export type { SkillResources } from "./dispatch.ts";
export { type AuditEntry, addCall, type Statistics, statisticsFrom, type CallStats } from "./audit-log.ts";

export interface RouterOptions {
  readonly validator: Validator;
  /** Returns the policy that is in force; by default only the metadata of methods applies. */
  readonly getPolicy?: () => Policy;
  /** Counts calls for the cooldowns and rate limits of methods; by default in memory, for this process alone. */
  readonly counter?: CallCounter;
  /** Counts calls for the limits of callers; by default in memory. */
  readonly sharedCounter?: SharedCounter;
  /** Approves calls of methods that require approval; without it, these calls are refused. */
  readonly approve?: DecideApproval;
  /** True for a skill that must not be called although a run may still see it. */
  readonly isDisabled?: (skill: string) => boolean;
  /** Returns the settings, secrets and store of a skill. */
  readonly getResources?: (skill: Skill) => SkillResources;
  /** The accounts whose names methods have; none by default. */
  readonly accounts?: UsableAccounts;
  /** Returns the function that lets another process make calls with accounts, if one has their credentials. */
  readonly getElsewhere?: () => CallElsewhere | undefined;
  /** Values that are masked in every error, log and approval. */
  readonly secrets?: KnownSecrets;
  /** The values for which guests see placeholders, which become values again where a method may receive them; default: none. */
  readonly placeholders?: PlaceholderOptions;
  /** Makes a second attempt of a call that only reads, after a failure that is over in a moment; default: true. */
  readonly retriesReads?: boolean;
  /** Adds the arguments and results of calls to their spans, without secrets; default: false. */
  readonly tracesContent?: boolean;
  /** True if a result that does not match the output schema of its method deserves a note; default: always. */
  readonly shouldReport?: (method: Method) => boolean;
  /** Stores the decision on each call, and its end; without it, records are in memory only. */
  readonly auditWriter?: AuditWriter;
  /** Receives the record of each call when it has ended. */
  readonly onEntry?: (entry: AuditEntry) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Runs every call of a method through the guards. */
export interface Router {
  readonly route: Route;
  /** Makes a call that another process has decided on: it was approved, counted and recorded there. */
  readonly makeDecided: Route;
  /** Counts a request that calls no method itself in the limits of its caller; rejects with `RATE_LIMIT`. */
  countRequest(caller: Caller, what?: UnrecordedRequest): Promise<RequestUnit | undefined>;
  /** The newest records, the oldest first. */
  entries(): readonly AuditEntry[];
  /** Statistics by `Skill.method`. */
  statistics(): ReadonlyMap<string, Statistics>;
}

export function createRouter(options: RouterOptions): Router {
  const { validator, approve = () => false, isDisabled = () => false, now = Date.now } = options;
  const { getResources = () => NO_RESOURCES, secrets = new KnownSecrets(), shouldReport = () => true } = options;
  const { getPolicy = () => NO_POLICY, counter = createCallCounter(now), retriesReads = true } = options;
  const getView = createSecretViews(options.placeholders ?? { hidden: new KnownSecrets(), isForAllSkills: false });
  const { accounts: usable = NO_ACCOUNTS, auditWriter: writer, sharedCounter = createMemoryCounter(now) } = options;
  const trail = createAuditLog();
  const record = (entry: AuditEntry): void => {
    trail.add(entry);
    options.onEntry?.(entry);
  };

  /** The guards, the outermost first. */
  const guards: readonly Guard[] = [
    trace(secrets, options.tracesContent ?? false),
    audit({ record, now, writer }),
    permission,
    enabled(isDisabled),
    accounts(usable),
    requestValues,
    approval(approve, { secrets, validator, findAccount: usable.find }),
    limits(counter, sharedCounter),
    validate(validator, shouldReport),
    timeout,
    cache(now),
  ];
  const { getElsewhere = () => undefined } = options;
  const parts = { getResources, secrets, getView, retriesReads, getElsewhere };
  const enter = nest(guards, dispatch({ ...parts, onBegin: recordDecision(now, writer) }));
  const enterDecided = nest(
    [permission, enabled(isDisabled), accounts(usable), decided, validate(validator, shouldReport), timeout],
    dispatch({ ...parts, onBegin: () => undefined }),
  );

  const guard = (call: Call): GuardedCall | Promise<GuardedCall> =>
    guardedCall(call, { policy: getPolicy(), validator, findAccount: usable.find });
  return {
    async route(call) {
      try {
        const guarded = guard(call);
        const checked = guarded instanceof Promise ? await guarded : guarded;
        const { value } = await enter(checked);
        for (const source of listSources(checked)) call.resultTexts?.record(source, value);
        return value;
      } catch (error) {
        // The message of a provider is text from outside, too.
        if (error instanceof SkillgateError && error.code === "CALL_FAILED")
          call.resultTexts?.record(call.method, error.message);
        throw error;
      }
    },
    makeDecided: async (call) => (await enterDecided(await guard(call))).value,
    countRequest: (caller, what) => countRequest(caller, sharedCounter, what),
    entries: () => trail.entries(),
    statistics: () => trail.statistics(),
  };
}

/** The methods that a result comes from: the parts of a call that has parts. */
function listSources({ method, parts }: GuardedCall): readonly Method[] {
  return parts.length === 0 ? [method] : parts.map((part) => part.method);
}

function nest(guards: readonly Guard[], innermost: Handler): Handler {
  return guards.reduceRight((next, guard) => guard(next), innermost);
}

function createMemoryCounter(now: () => number): SharedCounter {
  const database = createLazyDatabase({});
  return createSharedCounter(() => database.open(), now);
}
