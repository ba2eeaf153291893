import type { Caller } from "./caller.ts";
import type { Origin } from "./requests/origin.ts";

/**
 * The calls that a yes covers: this one; all further calls of the method in this run; the calls that the plan of the run
 * shows with literal arguments; all further calls of the method by this caller, until the yes expires.
 */
export const APPROVAL_SCOPES = ["once", "run", "plan", "always"] as const;

export type ApprovalScope = (typeof APPROVAL_SCOPES)[number];

/** Whether calls wait for an answer also if no person was asked; `programs`: only those of recorded programs. */
export type ApprovalWait = boolean | "programs";

/** The person who must answer. */
export type Approver = "user" | "admin";

/** The question whether one call may be made. */
export interface ApprovalRequest {
  readonly caller: Caller;
  /** `Skill.method`. */
  readonly path: string;
  /** A copy of the input that the method receives, with configured secrets masked. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly argumentsDigest: string;
  readonly runId: string;
  /** The person who must answer. */
  readonly approval: Approver;
  /** The parts of the input that came out of other methods in this run; absent if there are none. */
  readonly origins?: readonly Origin[];
  /** The titles of the accounts with which the call makes requests; absent if there are none. */
  readonly accounts?: readonly string[];
  /** The id of its record. */
  readonly id: string;
  /** The question as text: caller, method, arguments, plan, provenance, expiry. */
  readonly card: string;
  /** The scopes that a yes can have. */
  readonly scopes: readonly ApprovalScope[];
  /** In milliseconds since 1970. */
  readonly expires: number;
}

/** Yes with `true` or a scope; every other value is a no. */
export type ApprovalAnswer = boolean | ApprovalScope;

/**
 * Answers a question. Resolves to `undefined` to leave the answer to others; an error is a no. `closed` aborts when the question
 * has been answered elsewhere, or has ended; its reason is a text that says so.
 */
export type Approve = (
  request: ApprovalRequest,
  closed: AbortSignal,
) => ApprovalAnswer | undefined | Promise<ApprovalAnswer | undefined>;

/** A call that the program contains, as a person sees it. */
export interface PlannedCall {
  readonly path: string;
  readonly line: number;
  /** The arguments as far as they are literal, with configured secrets masked; `undefined` if their number is unknown. */
  readonly args: readonly unknown[] | undefined;
  /** The digest of the input; absent if not all arguments are literal and valid. */
  readonly digest?: string;
  readonly inLoop: boolean;
  readonly conditional: boolean;
}

/** Further calls of one run that were approved together with an earlier call. */
export interface RunApprovals {
  /** The paths of methods, each with the person who approved. */
  readonly methods: Map<string, Approver>;
  /** By path and digest: the person who approved, and how many calls are left. */
  readonly planned: Map<string, { readonly approver: Approver; left: number }>;
  /** True if the answers that an earlier process received are here, too. */
  isRestored: boolean;
}

export function createRunApprovals(): RunApprovals {
  return { methods: new Map(), planned: new Map(), isRestored: false };
}

/** A run with a record: it continues after the process that waits for an answer has ended. */
export interface RecordedRun {
  /** True if another process made calls of the run before: its questions count. */
  readonly isResumed: boolean;
  /** True if the run was left to other processes. */
  isLeft(): boolean;
  /** Must be called when a call of the run waits for a person. */
  onQuestion(): void;
  /** Returns the calls with an effect that were made so far, each with the short digest of its input. */
  listMade(): readonly { readonly path: string; readonly digest: string }[];
}
