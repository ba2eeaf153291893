import type { RuntimeParts } from "../../api/parts.ts";
import type { AutomationFiles } from "../automation-files.ts";

/** Parts of the functions that write automations. */
export interface AuthoringParts extends Pick<
  RuntimeParts,
  "settings" | "database" | "programStore" | "registry" | "providers"
> {
  readonly files: AutomationFiles;
}
