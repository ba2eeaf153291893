import type { Caller } from "../../../model/caller.ts";
import type { Catalog } from "../../../model/catalog.ts";
import type { Database } from "../../../store/index.ts";
import type { RuntimeSettings } from "../../settings/runtime-settings.ts";
import type { ProgramStore } from "../../storage/program-store.ts";
import type { AutomationFiles } from "../automation-files.ts";

/** Parts of the functions that write automations. */
export interface AuthoringParts {
  readonly files: AutomationFiles;
  readonly settings: Pick<RuntimeSettings, "automationsDir" | "cwd" | "env" | "trust">;
  readonly open: () => Promise<Database>;
  readonly programStore: Pick<ProgramStore, "deleteAll">;
  readonly getCatalog: (caller: Caller) => Catalog;
  /** Settles when the tools of all servers are known. */
  readonly whenKnown: () => Promise<void>;
}
