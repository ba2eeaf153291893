import type { AutomationApi, OpenAutomations } from "../automations/index.ts";
import type { RuntimeServices } from "../services.ts";
import type { RuntimeParts } from "./parts.ts";
import type { RunApi } from "./run.ts";
import type { RunsApi } from "./runs.ts";

/** The automations of a runtime. A runtime that does not use them loads no module of them. */
export function createAutomationsApi(
  parts: RuntimeParts,
  services: RuntimeServices,
  apis: RunApi & RunsApi,
): OpenAutomations {
  let opening: Promise<OpenAutomations> | undefined;
  const open = async (): Promise<AutomationApi> => {
    opening ??= import("../automations/index.ts").then(({ createAutomations }) =>
      createAutomations({ parts, services, run: apis, runs: apis.runs }),
    );
    return (await opening).api;
  };
  return {
    api: {
      list: async (...options) => (await open()).list(...options),
      get: async (...options) => (await open()).get(...options),
      history: async (...options) => (await open()).history(...options),
      offer: async (...options) => (await open()).offer(...options),
      accept: async (...options) => (await open()).accept(...options),
      pause: async (...options) => (await open()).pause(...options),
      resume: async (...options) => (await open()).resume(...options),
      run: async (...options) => (await open()).run(...options),
      retry: async (...options) => (await open()).retry(...options),
      whenEnded: async (...options) => (await open()).whenEnded(...options),
      follow: async () => (await open()).follow(),
    },
    close: async () => (await opening)?.close(),
  };
}
