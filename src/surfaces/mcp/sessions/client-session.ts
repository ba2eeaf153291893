import type { Caller } from "../../../model/caller.ts";
import type { CredentialLife } from "../../../model/credential.ts";
import type { ListName } from "../../../model/mcp-features.ts";
import type { RequestValues } from "../../../model/requests/request-values.ts";
import type { SharedRuntime } from "../../../runtime/api/view.ts";
import type { MultiTurnRequests } from "./multi-turn-requests.ts";
import type { LiveTasks } from "../tasks/live-tasks.ts";
import type { Exposure } from "../tools/tool-exposure.ts";
import type { SessionRuns } from "../features/session-runs.ts";
import type { Features } from "../features/caller-features.ts";

/** Dependencies that all connections of one server share. */
export interface GatewayContext {
  readonly runtime: SharedRuntime;
  /** Calls back when skills came or went. Returns the function that stops it. */
  readonly onCatalog: (listener: () => void) => () => void;
  /** Calls back when a server has announced a change of its resources or prompts. Returns the function that stops it. */
  readonly onList: (listener: (skill: string, list: ListName) => void) => () => void;
  readonly conversations: MultiTurnRequests;
  readonly tasks: LiveTasks;
  readonly records: SessionRuns;
  readonly features: Features;
  /** Members of `_meta` that calls of programs get, too. */
  readonly passMeta: readonly string[];
}

/** The caller of a request and the tools that it sees. */
export interface Principal {
  readonly caller: Caller;
  readonly exposure: Exposure;
  /** The instructions of its profile, which precede those of the server. */
  readonly instructions?: string;
  /** The headers of the request, or the session values of the command line. Absent in a session, whose requests have their own. */
  readonly requestValues?: RequestValues;
  /** Ends with the key of the caller. */
  readonly life?: CredentialLife;
}

/** The client of a connection. */
export interface ConnectedClient extends Principal {
  /** `modern` is the 2026 protocol, which has no requests from servers to clients. */
  readonly era: "legacy" | "modern";
  /** `pipe` for standard input and output; `tcp`, the default, for HTTP. */
  readonly transport?: "pipe" | "tcp";
  /** Groups the programs of one client for refusal hints; absent for requests without a session. */
  readonly conversation?: string;
}
