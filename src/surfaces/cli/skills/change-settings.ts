import type { SettingsEdit } from "../../../config/index.ts";

/** Changes the settings on behalf of the user, so that the project stays trusted. */
export async function changeSettings(settingsFile: string, edit: SettingsEdit): Promise<void> {
  const { editSettingsByHand } = await import("../../../config/index.ts");
  await editSettingsByHand({ cwd: process.cwd(), env: process.env }, settingsFile, edit);
}
