// The JSON that the server sends to the pages of the console. Times are in milliseconds since 1970, durations in milliseconds.

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
  readonly admin: "read" | "write" | null;
  readonly version: string;
  /** False if the server requires no token. */
  readonly hasLogin: boolean;
}

export type ServerState = "connecting" | "connected" | "disconnected" | "error" | "disabled";

/** An MCP server and its connection. */
export interface ServerSummary {
  readonly name: string;
  readonly skill: string;
  readonly status: ServerState;
  /** The reason why it is not connected. */
  readonly error: string | null;
  readonly transport: string;
  readonly toolCount: number;
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
export interface CallSummary {
  readonly runId: string;
  readonly callId: number;
  readonly caller: string;
  readonly path: string;
  readonly time: number;
  readonly durationMs: number;
  readonly outcome: string;
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
  readonly servers: readonly ServerSummary[];
  /** The credential of the session is not valid any more. */
  readonly end: { readonly reason: string };
}

export type ConsoleEventName = keyof ConsoleEvents;

/** An answer of the search, as a model gets it. */
export interface SearchResults {
  readonly results: readonly {
    readonly path: string;
    readonly signature: string;
    readonly summary: string;
    readonly score: number;
  }[];
  /** The text that a model reads. */
  readonly text: string;
}

/** A method as a model sees it described. */
export interface MethodDescription {
  readonly kind: string;
  readonly path: string;
  /** The text that a model reads. */
  readonly text: string;
}

/** A server with its tools, its entry and the end of its log. */
export interface ServerDetail extends ServerSummary {
  readonly tools: readonly { readonly name: string; readonly path: string; readonly description: string }[];
  readonly quarantined: readonly { readonly tool: string; readonly reason: string }[];
  readonly log: string;
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
