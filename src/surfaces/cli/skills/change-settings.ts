/** Changes values of the settings on behalf of the user, so that the project stays trusted. */
export async function changeSettings(
  settingsFile: string,
  changes: readonly { readonly path: readonly string[]; readonly value: unknown }[],
): Promise<void> {
  const { changeByHand, editSettings } = await import("../../../config/index.ts");
  await changeByHand({ cwd: process.cwd(), env: process.env }, { files: [settingsFile] }, async () => {
    for (const { path, value } of changes) await editSettings(settingsFile, path, value);
  });
}
