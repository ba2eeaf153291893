import type ts from "typescript";

import type { Diagnostic } from "./messages.ts";
import type { Ground } from "./trust.ts";

/** What looks wrong, before it is known whether its types can be trusted. */
export interface Finding extends Omit<Diagnostic, "start" | "end"> {
  readonly node: ts.Node;
  /** What must be of the type that it seems to be. */
  readonly grounds: readonly Ground[];
}
