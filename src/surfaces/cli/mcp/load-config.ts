export type { McpClient, ClientFile, ConfigOptions, ConfigScope } from "../../../config/index.ts";

export type ConfigModule = Awaited<ReturnType<typeof loadConfigModule>>;

/** What commands need of the configuration. It is loaded only when one of them runs: `--help` does without. */
export function loadConfigModule() {
  return import("../../../config/index.ts");
}
