import type { Context } from "hono";

import type { RuntimeView } from "../../../runtime/api/view.ts";
import { openEventStream } from "../../mcp/index.ts";
import { type Endpoints, readNumber } from "../endpoints.ts";
import { summarizeServer } from "../events/activity.ts";
import type { Overview } from "../messages.ts";
import type { ConsoleEnvironment, ConsoleServices } from "../services.ts";

const RECENT_RUNS = 8;
const MAX_RESULTS = 100;

/** Live events, the overview, and the search as a model sees it. */
export function createOverviewEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /events": ({ c, view }) => streamEvents(c, view, services),
    "GET /overview": ({ view }) => summarize(view, services),
    "GET /search": ({ c, view }) =>
      view.search(c.req.query("q") ?? "", { limit: readNumber(c, "limit", { fallback: 10, max: MAX_RESULTS }) }),
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
