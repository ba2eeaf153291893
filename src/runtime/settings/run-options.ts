import { createError } from "../../errors.ts";
import { requireCaller } from "../../model/caller.ts";
import { isRecord } from "../../model/json.ts";
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

/** Throws `OPTION_INVALID` for options that a run, a check or a call does not have, and for a caller or a signal of another form. */
export function requireRunOptions(options: RunOptions): void {
  requireNames("a run", options, RUN_OPTIONS);
  requireCaller(options.caller);
  const { signal }: { readonly signal?: unknown } = options;
  if (signal !== undefined && (!isRecord(signal) || !("aborted" in signal || "onCancel" in signal)))
    throw createError("OPTION_INVALID", "signal must be an AbortSignal");
}
