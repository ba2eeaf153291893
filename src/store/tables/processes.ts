import { defineTable, integer, type RowOf, type StoreEngine, text } from "../database/table.ts";

/** A process that has claimed runs. */
export type ProcessRow = RowOf<typeof PROCESSES>;

export const PROCESSES = defineTable({
  name: "processes",
  key: ["name"],
  columns: {
    name: text(),
    /** A counter that the process raises every few seconds while it has claims. Others watch whether it changes. */
    beat: integer(),
  },
});

/** The counters of the processes that have claimed runs. */
export interface ProcessTable {
  put(process: ProcessRow): Promise<void>;
  list(): Promise<readonly ProcessRow[]>;
  /** Deletes a process whose counter has this value. */
  delete(process: ProcessRow): Promise<void>;
}

export function createProcessTable(engine: StoreEngine): ProcessTable {
  return {
    put: (process) => engine.put(PROCESSES, process),
    list: () => engine.select(PROCESSES, {}),
    delete: async ({ name, beat }) => void (await engine.delete(PROCESSES, { name, beat })),
  };
}
