export type { Client, ClientFile, ConfigOptions, Scope } from "../../../config/index.ts";

export type Room = Awaited<ReturnType<typeof openRoom>>;

/** What commands need of the configuration. It is loaded only when one of them runs: `--help` does without. */
export async function openRoom() {
  const {
    approveServers,
    changeServers,
    clientFile,
    clientNamed,
    CLIENTS,
    existingFiles,
    hideSecrets,
    isSkillgate,
    loadConfig,
    MASK,
    maskedEntry,
    plainEntry,
    serverConfigOf,
    serversInFile,
    serversOf,
    shownServer,
    textOf,
    valueIn,
    writtenAt,
  } = await import("../../../config/index.ts");
  return {
    approveServers,
    changeServers,
    clientFile,
    clientNamed,
    CLIENTS,
    existingFiles,
    hideSecrets,
    isSkillgate,
    loadConfig,
    MASK,
    maskedEntry,
    plainEntry,
    serverConfigOf,
    serversInFile,
    serversOf,
    shownServer,
    textOf,
    valueIn,
    writtenAt,
  };
}
