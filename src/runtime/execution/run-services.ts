import type { SkillgateError } from "../../errors.ts";
import type { Cancellable, Sandbox } from "../../../sandbox/index.ts";
import type { TypecheckProgram } from "../typecheck-program.ts";
import type { Discovery } from "../discovery.ts";
import type { UsableAccounts } from "../../model/account.ts";
import type { Approve } from "../../model/approval.ts";
import type { Caller } from "../../model/caller.ts";
import type { RunObserver } from "../../model/run-observer.ts";
import type { Catalog } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { Policy } from "../../model/policy.ts";
import type { Limits } from "../../model/limits.ts";
import type { Plan } from "../../model/plan.ts";
import type { Program } from "../../model/program.ts";
import type { ResultSpace } from "../../model/kept-results.ts";
import type { CallContext } from "../../model/skill.ts";
import type { TraceContext } from "../../telemetry/index.ts";
import type { RunInput } from "../../shared/json/run-input.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import type { RecordedPlace, RequestUnit, Route } from "../../router/index.ts";
import type { CheckProgram } from "../check-program.ts";
import type { RecordServices } from "./record-services.ts";
import type { ApprovalFacts, Database } from "../../store/index.ts";
import type { ContinueRequest } from "./continue-run.ts";
import type { RunRights } from "./rights/find-rights.ts";

/** The modules that a program passes through. */
export interface RunServices extends ResultSpace {
  readonly sandbox: Sandbox;
  readonly route: Route;
  readonly secrets: KnownSecrets;
  readonly checkTypes: TypecheckProgram;
  readonly discovery: Discovery;
  /** Returns the policy that is in force. */
  readonly getPolicy: () => Policy;
  /** The front end and the gatekeeper. */
  readonly inspect: CheckProgram;
  readonly accounts: UsableAccounts;
  /** Records runs. */
  readonly records: RecordServices;
  /** Opens the store of recorded runs. */
  readonly openRuns: () => Promise<Pick<Database, "runs">>;
  /** Returns the open questions of a run. */
  readonly listApprovals: (runId: string) => Promise<readonly ApprovalFacts[]>;
  /** Finds the rights that the caller of a run has now, on behalf of `by`. */
  readonly findRights: (caller: Caller, by?: Caller) => Promise<RunRights>;
}

export interface RunRequest {
  readonly caller: Caller;
  readonly catalog: Catalog;
  readonly limits: Limits;
  /** Says why the catalog lacks a skill that exists: it is disabled or held, if the caller may know that. */
  readonly whyUnavailable: (path: string) => SkillgateError | undefined;
  /** Receive the log lines, the stacks of errors and the progress of the methods that are called. */
  readonly log: (path: string, runId: string, ...entry: Parameters<CallContext["log"]>) => void;
  readonly onSkillError: (path: string, runId: string, stack: string) => void;
  readonly progress: (path: string, runId: string, ...entry: Parameters<CallContext["progress"]>) => void;
  readonly cancellable?: Cancellable;
  readonly observer?: RunObserver;
  /** The id of the run; a new one by default. */
  readonly runId?: string;
  /** The call of a recorded run whose saved program this is. */
  readonly within?: RecordedPlace | undefined;
  /** The failed run that the program corrects. */
  readonly continues?: ContinueRequest;
  /** Asks the person at the program that makes the calls, in place of the runtime's own `approve`; `false` asks no one. */
  readonly approve?: Approve | false;
  /** Calls that have an effect need an approval. */
  readonly asksForEffects?: boolean;
  /** The value that the program gets from `device.input()`. */
  readonly input?: RunInput;
  /** The automation that the run belongs to. */
  readonly automation?: string;
  /** The type of the input for the check of the program. */
  readonly inputSchema?: JsonSchema;
  /** The place in a trace at which the calls of the run begin; by default the active span. */
  readonly trace?: TraceContext | undefined;
  /** Pauses the timeout of the call that the run belongs to, while a person is asked. */
  readonly pauseTimeoutFor?: CallContext["pauseTimeoutFor"];
  /** The unit of the limits of the caller that the run has counted. */
  readonly requestUnit?: RequestUnit | undefined;
}

/** A program that passed the check, as one run. */
export interface CheckedRun {
  readonly runId: string;
  readonly source: string;
  readonly program: Program;
  readonly plan: Plan;
  readonly notes: readonly string[];
}
