import { mayAdminister } from "../../../model/caller.ts";
import { filterServers } from "../events/event-hub.ts";
import { summarizeServer } from "../events/summaries.ts";
import type { Overview } from "../messages.ts";
import type { AddConsoleApi } from "../services.ts";

const RECENT_RUNS = 8;

export const addOverviewApi: AddConsoleApi = (api, { runtime, activity, http }) => {
  api.get("/overview", async (c) => {
    const caller = c.get("caller");
    const isAdmin = mayAdminister(caller, "read");
    const { skills, methods } = runtime.catalogFor(caller);
    const approvals = isAdmin ? await runtime.approvals.list("pending", caller) : undefined;
    const overview: Overview = {
      startedAt: Date.now() - http.counters.uptimeSeconds * 1_000,
      skills: skills.length,
      methods: methods.length,
      servers: filterServers(runtime.servers.map(summarizeServer), caller, runtime),
      waitingApprovals: approvals?.length ?? null,
      minutes: activity.countMinutes(caller),
      recentRuns: activity.listRuns(caller, RECENT_RUNS),
      problems: isAdmin ? runtime.problems.map(({ source, error, fix }) => ({ source, error, fix: fix ?? null })) : [],
    };
    return c.json(overview);
  });
};
