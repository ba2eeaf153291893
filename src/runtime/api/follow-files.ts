import { watchSettings } from "../skill-admin.ts";
import type { RuntimeParts } from "./parts.ts";

/** Follows changes of the settings and the policy, if the runtime watches its files. */
export function followFiles(parts: RuntimeParts): () => void {
  const { settings, policy, log } = parts;
  if (settings.watch)
    policy.watch({
      onApplied: () => log("info", "The changed policy is in force"),
      onBroken: (why) => log("warn", `Cannot use the changed policy: ${why}`),
    });
  const stop = watchSettings(parts);
  return () => {
    stop();
    policy.close();
  };
}
