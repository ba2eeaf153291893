import {
  type ConfigOptions,
  editSettingsByHand,
  loadConfig,
  type LoadedConfig,
  type SettingsEdit,
} from "../../config/index.ts";
import type { RuntimeView } from "../../runtime/api/view.ts";
import { invalidRequest } from "./problem.ts";

/** The configuration that the console may change. */
export interface ConsoleConfig {
  readonly options: ConfigOptions;
  /** The path of settings.yaml, which may not exist yet. Absolute. */
  readonly settingsFile: string;
  /** The project's own folder of skills, which may not exist yet. Absolute. */
  readonly skillsFolder: string;
}

/**
 * Reads the configuration as its files are now; throws `ADMIN_MISSING` for a caller without the right, and `REQUEST_INVALID` for a
 * server without files.
 */
export async function openConfigFiles(
  config: ConsoleConfig | undefined,
  view: RuntimeView,
  right: "Read" | "ManageServers",
): Promise<LoadedConfig> {
  view.require(right);
  const { options } = requireConfig(config);
  const { declared } = await loadConfig(options);
  return { declared, options };
}

/** Changes settings on behalf of the owner, so that the project stays trusted. */
export async function changeSettingsFile(
  config: ConsoleConfig | undefined,
  view: RuntimeView,
  edit: SettingsEdit,
): Promise<void> {
  view.require("ManageServers");
  const { options, settingsFile } = requireConfig(config);
  await editSettingsByHand(options, settingsFile, edit);
}

export function requireConfig(config: ConsoleConfig | undefined): ConsoleConfig {
  if (config !== undefined) return config;
  throw invalidRequest("this server was started by a program, which defines its servers and skills");
}
