import { type Runs, createRuns } from "../execution/runs.ts";
import { createSavedSkills, type SavedSkills } from "../saved/index.ts";
import { createRemoteRuns } from "../remote/remote-runs.ts";
import { withOptionNames } from "../../shared/settings/option-names.ts";
import { RUNS_OPTIONS } from "../settings/api-options.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import { createRequest } from "./request.ts";

/** The recorded runs of a runtime, and the skills that are saved from them. */
export interface RunsApi {
  /** Recorded runs: lists, continues and cancels them. */
  readonly runs: Runs;
  /** Skills that were saved from runs: tests and saves them. */
  readonly savedSkills: SavedSkills;
}

/** Creates the recorded runs of a runtime, and the skills that are saved from them. */
export function createRunsApi(parts: RuntimeParts, services: RuntimeServices): RunsApi {
  const { providers, registry, secrets } = parts;
  const runs = withOptionNames("runs", openRuns(parts, services), RUNS_OPTIONS);
  const savedSkills = createSavedSkills({
    list: () => providers.saved,
    getCatalog: () => registry.catalog,
    runs,
    secrets,
  });
  return { runs, savedSkills };
}

function openRuns(parts: RuntimeParts, services: RuntimeServices): Runs {
  const runs = createOwnRuns(parts, services);
  return parts.executors === undefined ? runs : createRemoteRuns(runs, { parts, services, executors: parts.executors });
}

function createOwnRuns(parts: RuntimeParts, services: RuntimeServices): Runs {
  return createRuns({
    open: () => parts.database.open(),
    services,
    createRequest: (options) => createRequest(options, parts),
    getCatalog: (caller) => parts.registry.viewFor(caller),
    whenKnown: async (paths) => {
      const { catalog } = parts.registry;
      if (paths.some((path) => catalog.method(path) === undefined)) await parts.providers.whenKnown();
    },
    waitsForAnswers: parts.settings.approvals.wait !== false || parts.options.approve !== undefined,
    warn: (text) => parts.log("warn", text),
    onOutcome: async (outcome, caller) => {
      await parts.audit?.commitEffects(outcome.runId);
      parts.events.emit("run", outcome, { caller });
    },
  });
}
