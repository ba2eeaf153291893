import type { Hono } from "hono";

import type { SharedRuntime } from "../../runtime/api/view.ts";
import type { HttpServices, RouteEnvironment } from "../http/index.ts";
import type { ConsoleConfig } from "./config-files.ts";
import type { Activity } from "./events/activity.ts";
import type { EventHub } from "./events/event-hub.ts";
import type { LogLines } from "./events/log-lines.ts";
import type { OpenQuestions } from "./open-questions.ts";
import type { ConsoleSessions } from "./security/sessions.ts";

/** Dependencies of the endpoints of the console. */
export interface ConsoleServices {
  readonly runtime: SharedRuntime;
  readonly http: HttpServices;
  readonly sessions: ConsoleSessions;
  readonly activity: Activity;
  readonly events: EventHub;
  readonly log: LogLines;
  /** Absent for a runtime that a program defines. */
  readonly config: ConsoleConfig | undefined;
  readonly questions: OpenQuestions;
}

export type ConsoleEnvironment = {
  Bindings: RouteEnvironment["Bindings"];
  /** `ended` aborts at the logout. */
  Variables: RouteEnvironment["Variables"] & { ended: AbortSignal | undefined };
};

/** The endpoints below `/console/api`. Their requests have a `caller`. */
export type ConsoleApi = Hono<ConsoleEnvironment>;
