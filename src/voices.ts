import type { Follower } from "./model/follower.ts";
import type { Call } from "./router/index.ts";

/** How a call speaks while it runs: to whoever follows it, or to nobody. */
export function voicesFor(path: string, follower: Follower = {}): Pick<Call, "log" | "progress" | "client"> {
  const { log, progress, client } = follower;
  return {
    log: (level, text) => log?.(path, level, text),
    progress: (done, total, text) => progress?.(path, done, total, text),
    ...(client !== undefined && { client }),
  };
}
