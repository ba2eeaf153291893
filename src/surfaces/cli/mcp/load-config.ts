export type {
  ClientFile,
  Config,
  ConfigOptions,
  DeclaredServer,
  McpClient,
  WritableScope,
  WrittenServer,
} from "../../../config/index.ts";

export type ConfigModule = Awaited<ReturnType<typeof loadConfigModule>>;

/** Loads the configuration module when a command needs it, so that `--help` does not load it. */
export function loadConfigModule() {
  return import("../../../config/index.ts");
}
