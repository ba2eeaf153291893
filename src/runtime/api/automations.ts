import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";

import { getMessage } from "../../errors.ts";
import { withOptionNames } from "../../shared/settings/option-names.ts";
import { watchFolder } from "../../shared/watch-file.ts";
import type { AutomationApi, OpenAutomations } from "../automations/index.ts";
import type { RuntimeServices } from "../services.ts";
import { AUTOMATIONS_OPTIONS } from "../settings/api-options.ts";
import type { RuntimeParts } from "./parts.ts";
import type { RunApi } from "./run.ts";
import type { RunsApi } from "./runs.ts";

/** The automations of a runtime. A runtime that does not use them loads no module of them. */
export function createAutomationsApi(
  parts: RuntimeParts,
  services: RuntimeServices,
  apis: RunApi & RunsApi,
): OpenAutomations {
  const { automationsDir: folder } = parts.settings;
  let opening: Promise<OpenAutomations> | undefined;
  let stopWaiting = (): void => {};
  const open = async (): Promise<AutomationApi> => {
    opening ??= import("../automations/index.ts").then(({ createAutomations }) =>
      createAutomations({ parts, services, run: apis, runs: apis.runs, savedSkills: apis.savedSkills }),
    );
    return (await opening).api;
  };
  const api: AutomationApi = {
    list: async (...options) => (await open()).list(...options),
    get: async (...options) => (await open()).get(...options),
    find: async (...options) => (await open()).find(...options),
    input: async (...options) => (await open()).input(...options),
    upcoming: async (...options) => (await open()).upcoming(...options),
    history: async (...options) => (await open()).history(...options),
    offer: async (...options) => (await open()).offer(...options),
    accept: async (...options) => (await open()).accept(...options),
    pause: async (...options) => (await open()).pause(...options),
    resume: async (...options) => (await open()).resume(...options),
    run: async (...options) => (await open()).run(...options),
    retry: async (...options) => (await open()).retry(...options),
    save: async (...options) => (await open()).save(...options),
    acceptsProposals: parts.settings.automations.proposals,
    propose: async (...options) => (await open()).propose(...options),
    test: async (...options) => (await open()).test(...options),
    readText: async (...options) => (await open()).readText(...options),
    replaceText: async (...options) => (await open()).replaceText(...options),
    remove: async (...options) => (await open()).remove(...options),
    whenEnded: async (...options) => (await open()).whenEnded(...options),
    async receive(...request) {
      // A stranger must not open the store of a project without automations.
      if (opening === undefined && !existsSync(folder)) return { kind: "refused" };
      return (await open()).receive(...request);
    },
    async follow() {
      if (existsSync(folder)) return (await open()).follow();
      stopWaiting = whenCreated(folder, async () => (await open()).follow(), parts.log);
    },
  };
  return {
    api: withOptionNames("automations", api, AUTOMATIONS_OPTIONS),
    async close() {
      stopWaiting();
      await (await opening)?.close();
    },
  };
}

/** Calls back once a folder exists. Returns the function that stops waiting for it. */
function whenCreated(folder: string, onCreated: () => Promise<void>, log: RuntimeParts["log"]): () => void {
  const onFailure = (error: unknown): void => log("warn", `Cannot follow automations: ${getMessage(error)}`);
  const onChange = (): void => {
    if (!existsSync(folder)) return;
    stop();
    onCreated().catch(onFailure);
  };
  const stop = watchFolder(dirname(folder), (name) => name === basename(folder), { onChange, onFailure });
  return stop;
}
