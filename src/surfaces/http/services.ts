import type { HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";

import { ERRORS, type SkillgateError } from "../../errors.ts";
import type { Caller } from "../../model/caller.ts";
import type { CredentialLife } from "../../model/credential.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import { BUILTIN_TOOLS } from "../../runtime/builtin-tools/index.ts";
import type { McpSurface } from "../mcp/index.ts";
import type { Authentication, Authenticator } from "./auth/authenticate.ts";
import type { ChallengeFacts } from "./auth/challenge.ts";
import type { Body } from "./body.ts";
import type { BodyMemory } from "../../shared/http/body-memory.ts";
import type { Connections } from "./connection-limits.ts";
import type { InFlight } from "./in-flight.ts";
import type { Counters } from "./metrics.ts";
import type { OriginCheck } from "./origin-check.ts";
import type { HttpServerSettings } from "./settings.ts";

/** Dependencies of the endpoints. */
export interface HttpServices {
  readonly runtime: SharedRuntime;
  readonly mcp: McpSurface;
  readonly settings: HttpServerSettings;
  readonly origins: OriginCheck;
  readonly authenticator: Authenticator;
  /** The facts about the issuer of access tokens that a 401 reports; `undefined` without an issuer. */
  readonly challenge: () => ChallengeFacts | undefined;
  readonly counters: Counters;
  readonly inFlight: InFlight;
  readonly connections: Connections;
  /** The memory for large requests that have not arrived yet. */
  readonly bodies: BodyMemory;
  /** Milliseconds that a WebSocket may stay open without a valid token. */
  readonly authenticationMs: number;
  /** The URL of the server. */
  readonly url: () => string;
  /** The URL at which browsers and clients reach it. */
  readonly publicUrl: () => string;
  readonly pages: WebPages | undefined;
}

export type RouteEnvironment = {
  Bindings: HttpBindings;
  Variables: { sender: Authentication; caller: Caller; life: CredentialLife | undefined; body: Body };
};

/** Pages for browsers that a server offers beside its endpoints. */
export interface WebPages {
  /** The path of their own endpoints. Only pages of this server may use them, so they have no CORS headers. */
  readonly prefix: string;
  /** Adds routes, which authenticate their senders themselves. */
  mount(app: Hono<RouteEnvironment>, services: HttpServices): void;
  close(): void;
}

/**
 * A server whose store fails, or that holds a part of its project, is degraded; callers with `admin:Read` see why in full, others
 * the code only. The number of tools is that of the tools that the caller sees; strangers see only the built-in ones.
 */
export function createHealthReport({ counters, runtime }: Pick<HttpServices, "counters" | "runtime">, caller?: Caller) {
  const view = caller && runtime.viewFor(caller);
  const failure = findFailure(runtime);
  return {
    status: failure === undefined ? "healthy" : "degraded",
    ...(failure !== undefined && {
      reason:
        view?.may("Read") === true
          ? runtime.secrets.maskText(failure.message)
          : `${ERRORS[failure.code].says} (${failure.code})`,
    }),
    uptime_seconds: counters.uptimeSeconds,
    tools_count: (view?.catalog.methods.length ?? 0) + BUILTIN_TOOLS.length,
    request_count: counters.requests,
  };
}

function findFailure({
  storeFailure,
  heldProblem,
}: SharedRuntime): Pick<SkillgateError, "code" | "message"> | undefined {
  if (storeFailure !== undefined || heldProblem === undefined) return storeFailure;
  return { code: "SKILL_HELD", message: `${heldProblem.error}; ${heldProblem.fix ?? ""}` };
}

/** True if load balancers must send requests to other servers: the store fails, or all skills are held. */
export function isUnready({ storeFailure, heldProblem }: SharedRuntime): boolean {
  return storeFailure !== undefined || heldProblem?.isAll === true;
}
