import type { SettingsEdit } from "../../../config/index.ts";
import { loadConfigModule } from "../mcp/files.ts";
import type { CliSession } from "../session.ts";

/** Changes the settings on behalf of the user, so that the project stays trusted. Returns the path of their file. */
export async function editSettings({ folders }: Pick<CliSession, "folders">, edit: SettingsEdit): Promise<string> {
  const [{ editSettingsByHand }, { settingsFile }] = await Promise.all([loadConfigModule(), folders()]);
  await editSettingsByHand({ cwd: process.cwd(), env: process.env }, settingsFile, edit);
  return settingsFile;
}
