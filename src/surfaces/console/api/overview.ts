import type { Context } from "hono";

import { type Caller, mayCall } from "../../../model/caller.ts";
import type { Method } from "../../../model/catalog.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { openEventStream } from "../../mcp/index.ts";
import { type Endpoints, readNumber } from "../endpoints.ts";
import { summarizeServer } from "../events/activity.ts";
import type { MethodSummary, Overview } from "../messages.ts";
import type { ConsoleEnvironment, ConsoleServices } from "../services.ts";

const RECENT_RUNS = 8;
const MAX_RESULTS = 100;

/** Live events, the overview, the search as a model sees it, the list of all methods, and the description of one. */
export function createOverviewEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /events": ({ c, view }) => streamEvents(c, view, services),
    "GET /overview": ({ view }) => summarize(view, services),
    "GET /search": ({ c, view }) =>
      view.search(c.req.query("q") ?? "", { limit: readNumber(c, "limit", { fallback: 10, max: MAX_RESULTS }) }),
    "GET /methods": ({ view }) => ({
      methods: view.catalog.methods.map((method) => summarizeMethod(method, view.caller)),
    }),
    "GET /methods/:path": ({ getPart, view }) => view.describe(getPart("path")),
  };
}

/** The stream ends with the credential and at the logout. */
function streamEvents(c: Context<ConsoleEnvironment>, view: RuntimeView, { events }: ConsoleServices): Response {
  let stop = (): void => {};
  const stream = openEventStream(() => stop());
  const lastId = c.req.header("last-event-id") ?? c.req.query("after");
  const stopFollowing = events.follow(view, lastId, (name, json, id) => stream.sendText(name, json, id));
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

async function summarize(view: RuntimeView, { activity, http }: ConsoleServices): Promise<Overview> {
  const isAdmin = view.may("Read");
  const { skills, methods } = view.catalog;
  const approvals = isAdmin ? await view.approvals.list("pending") : undefined;
  return {
    startedAt: Date.now() - http.counters.uptimeSeconds * 1_000,
    skills: skills.length,
    methods: methods.length,
    servers: view.servers.map(summarizeServer),
    waitingApprovals: approvals?.length ?? null,
    minutes: activity.countMinutes(view),
    recentRuns: activity.listRuns(view, RECENT_RUNS),
    problems: isAdmin
      ? view.admin("Read").problems.map(({ source, error, fix }) => ({ source, error, fix: fix ?? null }))
      : [],
  };
}

/** UTF-16 units of a description in lists. */
const MAX_SUMMARY_UNITS = 200;

function summarizeMethod({ path, description, metadata }: Method, caller: Caller): MethodSummary {
  const summary = truncateText(description.split("\n", 1)[0] ?? "", MAX_SUMMARY_UNITS);
  const { readOnly, destructive } = metadata;
  return { path, summary, readOnly, destructive, callable: mayCall(caller, path) };
}
