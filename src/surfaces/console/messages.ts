// The JSON that the server sends to the pages of the console. Times are in milliseconds since 1970, durations in milliseconds.

import type { KeyState, KeyUsage } from "../../keys/index.ts";
import type { AdminRight } from "../../model/caller.ts";
import type { Decision, Flow } from "../../model/policy.ts";
import type { Explanation, PatternMatches, PolicyTestResult } from "../../policy/index.ts";
import type { LogLevel } from "../../model/skill.ts";
import type { ServerStatus } from "../../providers/mcp/index.ts";
import type { AccountTest, ListedAccount, ServerLogin } from "../../runtime/api/view.ts";
import type { SearchAnswer } from "../../registry/index.ts";
import type { AuditEntry, Statistics } from "../../router/index.ts";
import type { AuditItem } from "../../shared/audit/items.ts";
import type { NodeStatus } from "../../providers/nodes/index.ts";
import type { DatabaseInfo, KeyRow } from "../../store/index.ts";

/** An error as RFC 9457 describes it, with the code and the advice of the error table. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail?: string;
  readonly code: string;
  readonly fix: string;
  readonly suggestions?: readonly string[];
}

/** The person at the browser. */
export interface SessionInfo {
  readonly caller: string;
  readonly isOwner: boolean;
  readonly admin: readonly AdminRight[];
  readonly version: string;
  /** False if the server requires no token. */
  readonly hasLogin: boolean;
}

/** An MCP server and its connection. */
export interface ServerSummary extends Pick<ServerStatus, "name" | "skill" | "status" | "toolCount" | "transport"> {
  /** The reason why it is not connected. */
  readonly error: string | null;
}

/** A run that has ended or waits, since the start of the server. */
export interface RunSummary {
  readonly runId: string;
  readonly caller: string;
  readonly kind: "completed" | "refused" | "failed" | "waiting";
  readonly time: number;
  readonly durationMs: number;
  readonly calls: number;
  /** The code of the error that ended it. */
  readonly code: string | null;
}

/** A call of a method that has ended. */
export interface CallSummary extends Pick<
  AuditEntry,
  "callId" | "caller" | "durationMs" | "outcome" | "path" | "runId" | "time"
> {
  readonly code: string | null;
}

/** Runs and calls by minute, oldest first; the last minute is the current one. */
export interface ActivityMinutes {
  /** The starts of the minutes. */
  readonly times: readonly number[];
  readonly runs: readonly number[];
  readonly failedRuns: readonly number[];
  readonly calls: readonly number[];
  readonly failedCalls: readonly number[];
  /** Half of the calls took no longer; `null` in a minute without calls. */
  readonly medianMs: readonly (number | null)[];
  /** 95 percent of the calls took no longer. */
  readonly p95Ms: readonly (number | null)[];
}

export interface Overview {
  readonly startedAt: number;
  readonly skills: number;
  readonly methods: number;
  readonly servers: readonly ServerSummary[];
  /** Number of questions that wait for an answer; `null` for callers that may not see them. */
  readonly waitingApprovals: number | null;
  readonly minutes: ActivityMinutes;
  readonly recentRuns: readonly RunSummary[];
  readonly problems: readonly { readonly source: string; readonly error: string; readonly fix: string | null }[];
}

/** A method of the catalog in lists. */
export interface MethodSummary {
  readonly path: string;
  readonly summary: string;
  readonly readOnly: boolean;
  readonly destructive: boolean;
  /** False if the caller may see the method but not call it. */
  readonly callable: boolean;
}

/** The events of `/console/api/events`, by name. */
export interface ConsoleEvents {
  /** The stream is open. `isComplete` is false if events between the last stream and this one are lost. */
  readonly hello: { readonly server: string; readonly isComplete: boolean };
  readonly catalog: { readonly version: number; readonly skills: number; readonly methods: number };
  readonly call: CallSummary;
  readonly run: RunSummary;
  readonly approval: { readonly id: string; readonly path: string };
  /** Questions were asked, answered or closed, in this process or another; the ids are those without an answer. */
  readonly approvals: { readonly pending: readonly string[] };
  /** Connections of accounts that the caller may see have changed, in this process or another. */
  readonly accounts: Readonly<Record<string, never>>;
  /** Automations or their occurrences have changed, in this process or another. */
  readonly automations: Readonly<Record<string, never>>;
  readonly servers: readonly ServerSummary[];
  /** The store begins to fail, or works again. */
  readonly store: { readonly code: string | null };
  /** The credential of the session is not valid any more. */
  readonly end: { readonly reason: string };
}

export type ConsoleEventName = keyof ConsoleEvents;

export type SearchResults = SearchAnswer;

/** Whether a caller may call a method, and the decisive reason. */
export interface MethodAccess {
  /** The viewer, or the name of a key. */
  readonly caller: string;
  readonly decision: Decision;
  readonly reason: string;
}

/** A method with all that helps to call it. */
export interface MethodDetail extends MethodSummary {
  /** The description that a model reads. */
  readonly text: string;
  /** An example call as code. */
  readonly example: string;
  /** The method as code: `device.MathSkill.add`. */
  readonly access: string;
  /** JSON Schema of its arguments; `null` if it is too large for a form. */
  readonly input: unknown;
  /** Arguments that fit the schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Counts its calls since the start of the server; `null` without calls. */
  readonly statistics: Statistics | null;
  /** The newest calls of the last hour that the viewer may see, the newest first. */
  readonly calls: readonly CallSummary[];
  /** The viewer first; only administrators see others. */
  readonly callers: readonly MethodAccess[];
  /** The file of a skill of the project; `null` for other skills, and for viewers who may not change skills. */
  readonly source: { readonly file: string; readonly text: string } | null;
}

/** The end of the output of a server; empty for callers that may not see it. */
export interface ServerLog {
  readonly log: string;
}

/** A server with its tools and its entry. */
export interface ServerDetail extends ServerSummary {
  readonly tools: readonly { readonly name: string; readonly path: string; readonly description: string }[];
  readonly quarantined: readonly { readonly tool: string; readonly reason: string }[];
  /** Its entry in a file, with masked secrets; `null` for callers that may not see it, and without a file. */
  readonly declaration: {
    readonly file: string;
    readonly line: number;
    readonly scope: string;
    /** True until the project is trusted. */
    readonly isHeld: boolean;
    readonly entry: unknown;
    readonly problem: string | null;
  } | null;
}

/** An API of the settings. */
export interface ApiSummary {
  readonly name: string;
  readonly skill: string;
  readonly title: string;
  /** Its document, without what may hold a key. */
  readonly document: string;
  readonly server: string | null;
  readonly methods: number;
  /** Counts what of the document is left out or changed. */
  readonly problemCount: number;
  /** Counts what has changed since the operations were accepted. */
  readonly changeCount: number;
  readonly readAt: number | null;
  readonly error: string | null;
}

/** An API with its operations. */
export interface ApiDetail extends ApiSummary {
  /** Operations that were changed or added are held until they are accepted. */
  readonly holdsChanges: boolean;
  readonly problems: readonly string[];
  readonly changes: readonly {
    readonly name: string;
    readonly kind: string;
    readonly differences: readonly string[];
  }[];
  readonly operations: readonly {
    readonly method: string;
    /** The path of its method; `null` for one that is not offered. */
    readonly path: string | null;
    /** `POST /orders` */
    readonly request: string;
    readonly summary: string;
    readonly effect: string;
    readonly reason: string;
    /** The effect is `read` only because the settings say so. */
    readonly isLoosened: boolean;
  }[];
}

/** An account with the connection of one owner. No message has its credential. */
export interface AccountSummary extends ListedAccount {
  /** `ada` for the key ada; `everyone`. */
  readonly ownerName: string;
  /** The calls of the viewer use it. */
  readonly isOwn: boolean;
  /** How the viewer connects it; `null` for one that the viewer does not connect. */
  readonly connect: AccountConnect | null;
}

/** The answer of `GET /accounts`. */
export interface AccountsAnswer {
  readonly accounts: readonly AccountSummary[];
  /** The logins at MCP servers. */
  readonly logins: readonly ServerLoginSummary[];
}

export interface ServerLoginSummary extends ServerLogin {
  readonly ownerName: string;
}

/** The answer to a revocation. */
export interface RevokeAnswer {
  /** Why the deleted credential may still be valid at the service; `null` if it is not. */
  readonly left: string | null;
}

/** How a person connects an account. */
export type AccountConnect =
  /** With values that have these names. */
  | { readonly kind: "values"; readonly names: readonly string[] }
  /** By a login that begins at a page of the server. */
  | { readonly kind: "link"; readonly url: string }
  /** By a command, whose login needs the machine of the server. */
  | { readonly kind: "command"; readonly command: string };

export type { AccountTest };

/** A server of a pasted text. */
export interface ReadServer {
  readonly name: string;
  readonly entry: unknown;
  /** Its command line or address, without secrets. */
  readonly line: string;
  /** The reason why it cannot be added as it is. */
  readonly problem: string | null;
}

/** A server in the file of another client on the machine of the server. */
export interface ClientServer {
  /** The id and the title of the client. */
  readonly client: string;
  readonly title: string;
  readonly name: string;
  /** The file that has it. */
  readonly from: string;
  /** Its command line or address, without secrets. */
  readonly line: string;
  /** The file that it is written into; `null` for one that cannot be imported. */
  readonly file: string | null;
  /** True if it starts only when the project is trusted. */
  readonly isHeld: boolean;
  readonly obstacle: string | null;
}

/** A line of the test of a server. */
export type ServerTestLine =
  | { readonly kind: "log"; readonly text: string }
  | {
      readonly kind: "result";
      readonly server: ServerSummary;
      readonly tools: readonly string[];
      readonly durationMs: number;
    }
  | { readonly kind: "problem"; readonly problem: ProblemDetails };

/** A skill that is not an MCP server. */
export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  readonly methods: number;
  readonly enabled: boolean;
  readonly hasSettings: boolean;
}

/** A setting of a skill, without the value of a secret. */
export interface SkillSetting {
  readonly key: string;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** The environment variable of a secret. */
  readonly variable: string | null;
  readonly isSet: boolean;
  readonly value: unknown;
}

export interface SkillDetail extends SkillSummary {
  readonly methodPaths: readonly string[];
  readonly settings: readonly SkillSetting[];
  readonly problems: readonly string[];
}

/** An API key without its secret. */
export interface KeySummary extends Omit<KeyRow, "previousSha256" | "sha256"> {
  readonly state: KeyState;
}

export type { KeyUsage };

export interface KeyList {
  readonly keys: readonly KeySummary[];
  /** False if keys end with the process, because the store is in memory. */
  readonly isLasting: boolean;
}

/** A key that was created or rotated, with its text, which is sent this once. */
export interface IssuedKey {
  readonly text: string;
  readonly key: KeySummary;
}

/** The methods that patterns match, of those that the caller may see. */
export interface CountedPatterns extends PatternMatches {
  /** Texts that complete the last pattern. */
  readonly candidates: readonly string[];
}

/** Stands for the key in the entry of a client. */
export const KEY_PLACEHOLDER = "sg_YOUR_KEY";

/** The entry of Skillgate in the file of a client. */
export interface ClientSnippet {
  readonly id: string;
  readonly title: string;
  /** The user's file of the client. */
  readonly file: string;
  /** The text to add to it, with `KEY_PLACEHOLDER` if the server requires a key. */
  readonly text: string;
}

/** The policy that is in force, with the mistakes of its files. */
export interface PolicySummary {
  /** The file of the rows, relative to the project. */
  readonly file: string;
  readonly rows: readonly PolicyRowSummary[];
  readonly flows: readonly Flow[];
  readonly roles: readonly { readonly name: string; readonly scopes: readonly string[] }[];
  readonly problems: readonly string[];
  readonly asksDestructive: boolean;
  readonly onlyTightens: boolean;
}

export interface PolicyRowSummary {
  readonly key: string;
  readonly line: number;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The number of methods that the row matches. */
  readonly methods: number;
}

export type PolicyExplanation = Explanation;

export interface PolicyTestSummary {
  readonly results: readonly PolicyTestResult[];
}

/** Records that match a filter, the newest first. */
export interface AuditPage {
  readonly rows: readonly AuditItem[];
  /** The number before which the next part begins; `null` if there are no older records. */
  readonly next: number | null;
  /** False if the runtime stores no records. */
  readonly isStored: boolean;
}

/** The result of checking the chain of records. */
export type AuditCheck =
  | { readonly kind: "intact"; readonly records: number; readonly heads: number; readonly lastSeq: number }
  | { readonly kind: "broken"; readonly problem: string; readonly seq: number; readonly says: string };

/** A setting, and where its value comes from: the file, a default, or an option of the program or of its command line. */
export interface SettingRow {
  /** `limits.wallMs` */
  readonly name: string;
  readonly description: string;
  /** Without secrets. */
  readonly value: unknown;
  readonly source: "file" | "default" | "option" | "unset";
  /** `settings.yaml:12`; empty for other sources. */
  readonly place: string;
}

export interface SettingsReport {
  /** `null` for a server without a project. */
  readonly file: string | null;
  readonly rows: readonly SettingRow[];
}

export interface StoreReport extends DatabaseInfo {
  /** Why it cannot be used at the moment. */
  readonly failure: string | null;
}

/** Other machines: those that offer skills, and those that execute runs. */
export interface MachineReport {
  readonly devices: readonly NodeStatus[];
  /** `null` if this process executes the runs itself. */
  readonly executors: { readonly processes: readonly string[]; readonly failure: string | null } | null;
}

/** A line of the log of the server. */
export interface LogLine {
  readonly id: number;
  readonly time: number;
  readonly level: LogLevel;
  readonly text: string;
  /** The method that says it, or the file of the skill that prints it; `null` for the server itself. */
  readonly path: string | null;
  readonly runId: string | null;
  /** True for the stack of an error that a skill has thrown. */
  readonly isThrown: boolean;
}
