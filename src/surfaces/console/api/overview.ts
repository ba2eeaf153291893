import type { Context } from "hono";

import { type Caller, mayAdminister, mayCall } from "../../../model/caller.ts";
import type { Method } from "../../../model/catalog.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { openEventStream } from "../../mcp/index.ts";
import { type Endpoints, readNumber } from "../endpoints.ts";
import { filterServers } from "../events/event-hub.ts";
import { summarizeServer } from "../events/activity.ts";
import type { MethodSummary, Overview } from "../messages.ts";
import type { ConsoleEnvironment, ConsoleServices } from "../services.ts";

const RECENT_RUNS = 8;
const MAX_RESULTS = 100;

/** Live events, the overview, the search as a model sees it, the list of all methods, and the description of one. */
export function createOverviewEndpoints(services: ConsoleServices): Endpoints {
  const { runtime } = services;
  return {
    "GET /events": ({ c, caller }) => streamEvents(c, caller, services),
    "GET /overview": ({ caller }) => summarize(caller, services),
    "GET /search": ({ c, caller }) =>
      runtime.search(c.req.query("q") ?? "", {
        caller,
        limit: readNumber(c, "limit", { fallback: 10, max: MAX_RESULTS }),
      }),
    "GET /methods": ({ caller }) => ({
      methods: runtime.catalogFor(caller).methods.map((method) => summarizeMethod(method, caller)),
    }),
    "GET /methods/:path": ({ getPart, caller }) => runtime.describe(getPart("path"), { caller }),
  };
}

/** The stream ends with the credential and at the logout. */
function streamEvents(c: Context<ConsoleEnvironment>, caller: Caller, { events }: ConsoleServices): Response {
  let stop = (): void => {};
  const stream = openEventStream(() => stop());
  const lastId = c.req.header("last-event-id") ?? c.req.query("after");
  const stopFollowing = events.follow(caller, lastId, (name, json, id) => stream.sendText(name, json, id));
  const end = (reason: string): void => {
    stop();
    stream.send("end", { reason });
    stream.end();
  };
  const endAtLogout = (): void => end("logged out");
  const ended = c.get("ended");
  ended?.addEventListener("abort", endAtLogout, { once: true });
  const stopLife = c.get("life")?.onEnd(end);
  stop = () => {
    stopFollowing();
    stopLife?.();
    ended?.removeEventListener("abort", endAtLogout);
  };
  return stream.response;
}

async function summarize(caller: Caller, { runtime, activity, http }: ConsoleServices): Promise<Overview> {
  const isAdmin = mayAdminister(caller, "read");
  const { skills, methods } = runtime.catalogFor(caller);
  const approvals = isAdmin ? await runtime.approvals.list("pending", caller) : undefined;
  return {
    startedAt: Date.now() - http.counters.uptimeSeconds * 1_000,
    skills: skills.length,
    methods: methods.length,
    servers: filterServers(runtime.servers.map(summarizeServer), caller, runtime),
    waitingApprovals: approvals?.length ?? null,
    minutes: activity.countMinutes(caller),
    recentRuns: activity.listRuns(caller, RECENT_RUNS),
    problems: isAdmin ? runtime.problems.map(({ source, error, fix }) => ({ source, error, fix: fix ?? null })) : [],
  };
}

/** UTF-16 units of a description in lists. */
const MAX_SUMMARY_UNITS = 200;

function summarizeMethod({ path, description, metadata }: Method, caller: Caller): MethodSummary {
  const summary = truncateText(description.split("\n", 1)[0] ?? "", MAX_SUMMARY_UNITS);
  const { readOnly, destructive } = metadata;
  return { path, summary, readOnly, destructive, callable: mayCall(caller, path) };
}
