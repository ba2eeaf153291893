import type { Endpoints } from "../endpoints.ts";
import type { LogLine, MachineReport, StoreReport } from "../messages.ts";
import type { ConsoleServices } from "../services.ts";

/** The store, other machines and the log of the server, for administrators. */
export function createSystemEndpoints({ log }: ConsoleServices): Endpoints {
  return {
    "GET /store": async ({ view }): Promise<StoreReport> => {
      const info = await view.admin("Read").readStoreInfo();
      return { ...info, failure: view.shared.storeFailure?.message ?? null };
    },
    "GET /machines": ({ view }): MachineReport => {
      const { nodes, executors } = view.admin("Read");
      const { catalog } = view;
      const devices = nodes.map((node) => ({
        ...node,
        skills: node.skills.filter((name) => catalog.skill(name) !== undefined),
      }));
      if (executors === undefined) return { devices, executors: null };
      return { devices, executors: { processes: executors.processes, failure: executors.failure ?? null } };
    },
    "GET /log": ({ view }): { readonly lines: readonly LogLine[] } => {
      view.require("Read");
      return { lines: log.list(view).toReversed() };
    },
  };
}
