import type { RunOptions } from "../../runtime.ts";
import { type OptionNames, requireNames } from "../../shared/settings/option-names.ts";

/** The names of the options of a run. */
export const RUN_OPTIONS: OptionNames<RunOptions> = {
  caller: true,
  limits: true,
  signal: true,
  conversation: true,
  observer: true,
  approve: true,
  asksForEffects: true,
  continue: true,
  again: true,
  reuse: true,
  runId: true,
  input: true,
  inputSchema: true,
  isForeignInput: true,
  automation: true,
  resultSpace: true,
};

/** Throws `OPTION_INVALID` for options that a run, a check or a call does not have. */
export function requireRunOptions(options: RunOptions): void {
  requireNames("a run", options, RUN_OPTIONS);
}
