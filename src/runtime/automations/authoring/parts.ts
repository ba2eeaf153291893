import type { Caller } from "../../../model/caller.ts";
import type { Catalog } from "../../../model/catalog.ts";
import type { Database } from "../../../store/index.ts";
import type { AutomationFiles } from "../automation-files.ts";

/** What the functions that write automations share. */
export interface AuthoringParts {
  readonly files: AutomationFiles;
  /** The folder of automations, and the project. Absolute. */
  readonly folder: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** True if the user trusts the project by its files: what is written here stays trusted. */
  readonly recordsTrust: boolean;
  readonly open: () => Promise<Database>;
  readonly getCatalog: (caller: Caller) => Catalog;
  /** Settles when the tools of all servers are known. */
  readonly whenKnown: () => Promise<void>;
}
