import type { Call } from "../router/index.ts";
import type { RunRequest } from "../run-snippet.ts";

/** Passes the log lines and the progress of a call to the runtime's listeners and to the run's observer. */
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
