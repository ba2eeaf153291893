import type { Caller } from "../../../model/caller.ts";
import type { Runtime } from "../../../runtime.ts";
import type { MultiTurnRequests } from "./multi-turn-requests.ts";
import type { Exposure } from "../tools/tool-exposure.ts";
import type { RunRecords } from "../features/run-records.ts";
import type { ProxiedFeatures } from "../features/proxied-features.ts";

/** What all connections of one server share. */
export interface GatewayContext {
  readonly runtime: Runtime;
  readonly conversations: MultiTurnRequests;
  readonly records: RunRecords;
  readonly proxied: ProxiedFeatures;
}

/** Whoever asks, and what it shall see. */
export interface Principal {
  readonly caller: Caller;
  readonly exposure: Exposure;
}

/** Who is at the other end of a connection. */
export interface ConnectedClient extends Principal {
  /** The protocol of 2026 has no requests from servers to clients. */
  readonly era: "legacy" | "modern";
  /** What its programs are parts of; requests without a session are none of anything. */
  readonly conversation?: string;
}
