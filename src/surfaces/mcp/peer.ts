import type { Caller } from "../../model/caller.ts";
import type { Runtime } from "../../runtime.ts";
import type { Conversations } from "./conversations.ts";
import type { Exposure } from "./expose.ts";
import type { RunRecords } from "./run-records.ts";
import type { Upstream } from "./upstream.ts";

/** What all connections of one server share. */
export interface Shared {
  readonly runtime: Runtime;
  readonly conversations: Conversations;
  readonly records: RunRecords;
  readonly upstream: Upstream;
}

/** Whoever asks, and what it shall see. */
export interface Asker {
  readonly caller: Caller;
  readonly exposure: Exposure;
}

/** Who is at the other end of a connection. */
export interface Peer extends Asker {
  /** The protocol of 2026 has no requests from servers to clients. */
  readonly era: "legacy" | "modern";
  /** What its programs are parts of; requests without a session are none of anything. */
  readonly conversation?: string;
}
