import { cancellableBy } from "../../../sandbox/index.ts";
import { OWNER, withAnswers } from "../../model/caller.ts";
import type { RunOptions } from "../../runtime.ts";
import { whyUnavailable } from "../unavailable-skills.ts";
import type { RunRequest } from "../execution/run-services.ts";
import { mergeLimits } from "../settings/limits.ts";
import { createRunInput } from "../../shared/json/run-input.ts";
import { requireRunOptions } from "../settings/run-options.ts";
import type { RuntimeParts } from "./parts.ts";

/**
 * Builds the request of a run or a call: its caller, their view of the catalog, its limits and its listeners. Throws
 * `OPTION_INVALID` for an unknown option, and `INPUT_INVALID` for an input that is not JSON.
 */
export function createRequest(options: RunOptions, parts: RuntimeParts): RunRequest {
  requireRunOptions(options);
  const {
    caller = OWNER,
    limits,
    signal,
    observer,
    approve,
    asksForEffects,
    continue: run,
    again = [],
    reuse = [],
    runId,
    input,
    inputSchema,
    isForeignInput = false,
    automation,
  } = options;
  const { settings, registry, events } = parts;
  return {
    caller,
    catalog: registry.viewFor(observer?.client === undefined ? caller : withAnswers(caller, observer.client)),
    limits: mergeLimits(settings.limits, limits),
    whyUnavailable: (path) => whyUnavailable(path, caller, parts),
    log: (path, run, level, text) => events.emit("log", { level, text, path, runId: run }),
    onSkillError: (path, run, text) => events.emit("log", { level: "error", text, path, runId: run, isThrown: true }),
    progress: (path, runId, done, total, text) =>
      events.emit("progress", {
        runId,
        path,
        done,
        ...(total !== undefined && { total }),
        ...(text !== undefined && { text }),
      }),
    ...(signal !== undefined && {
      cancellable: "onCancel" in signal ? signal : cancellableBy(signal),
    }),
    ...(observer !== undefined && { observer }),
    ...(approve !== undefined && { approve }),
    ...(asksForEffects === true && { asksForEffects }),
    ...(runId !== undefined && { runId }),
    ...(input !== undefined && { input: createRunInput(input, isForeignInput) }),
    ...(inputSchema !== undefined && { inputSchema }),
    ...(automation !== undefined && { automation }),
    ...(run !== undefined && { continues: { run, again, reuse } }),
  };
}
