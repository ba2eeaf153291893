import type { Call } from "../router/index.ts";
import type { RunRequest } from "../run-snippet.ts";

/** How a call speaks while it runs: to whoever listens to the runtime, and to whoever follows the run. */
export function createCallEvents(
  path: string,
  runId: string,
  { log, progress, observer = {} }: Pick<RunRequest, "log" | "progress" | "observer">,
): Pick<Call, "log" | "progress" | "client"> {
  return {
    log(level, text) {
      log(path, level, text);
      observer.log?.(path, level, text);
    },
    progress(done, total, text) {
      progress(path, runId, done, total, text);
      observer.progress?.(path, done, total, text);
    },
    ...(observer.client !== undefined && { client: observer.client }),
  };
}
