import type { Call } from "./router/index.ts";
import type { RunRequest } from "./run-snippet.ts";

/** How a call speaks while it runs: to whoever listens to the runtime, and to whoever follows the run. */
export function voicesFor(
  path: string,
  runId: string,
  { log, progress, follower = {} }: Pick<RunRequest, "log" | "progress" | "follower">,
): Pick<Call, "log" | "progress" | "client"> {
  return {
    log(level, text) {
      log(path, level, text);
      follower.log?.(path, level, text);
    },
    progress(done, total, text) {
      progress(path, runId, done, total, text);
      follower.progress?.(path, done, total, text);
    },
    ...(follower.client !== undefined && { client: follower.client }),
  };
}
