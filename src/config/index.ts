export { changeFile, whyNotWritten } from "./write-atomic.ts";
export { type ConfigDocument, type Path as DocumentPath, parseDocument } from "./documents/index.ts";
export { configError, readConfigFile } from "./read-file.ts";
export type { EnvChange } from "./edit-env.ts";
export { getProjectStateDir } from "../shared/files/project-state-dir.ts";
export { fillIn, lookUp, readEnvFile, type Variables } from "./variables.ts";
export {
  changeServers,
  readServersInFile,
  formatEntryText,
  getValueIn,
  findEntryLocation,
} from "./servers/edit-servers.ts";
export {
  type McpClient,
  CLIENTS,
  clientFile,
  findSkillFolder,
  type ClientFile,
  findClient,
  readClientServers,
} from "./servers/clients.ts";
export { type ConfigOptions, existingFiles, type ConfigScope, listConfigFiles } from "./locations.ts";
export { type Config, loadConfig, toServerConfig } from "./load-config.ts";
export { findInputFields, type InputField } from "./reads.ts";
export type { ConfigInput } from "./servers/inputs.ts";
export {
  addDeclaredServer,
  changeDeclaredServer,
  createSwitchChanges,
  createUnknownServerError,
  findDeclaredServer,
  type LoadedConfig,
  type WritableScope,
  type WrittenServer,
} from "./declared-servers.ts";
export {
  findServersInFile,
  findServersOfClient,
  type FoundServer,
  importServer,
  type ImportResult,
  type ServerSearch,
} from "./import-servers.ts";
export { findSharedServers, moveSharedServers } from "./shared-servers.ts";
export { splitWords } from "./servers/command-placeholders.ts";
export { parsePastedServers, type PastedServer } from "./servers/pasted-servers.ts";
export { isSelfEntry } from "./servers/self-entry.ts";
export { normalizeEntry } from "./servers/normalize-entry.ts";
export { findToolObjection } from "./servers/tool-selection.ts";
export { findOverrideFlaw } from "./servers/tool-overrides.ts";
export { ACCOUNT_TYPE_SETTINGS, ACCOUNT_TYPES } from "./account-section.ts";
export { MCP_STARTS, RUNTIME_SECTION_SCHEMAS } from "./sections.ts";
export { renameOldPasses } from "./settings.ts";
export {
  findHeaderSecrets,
  findModelKeys,
  findServerSecrets,
  findSettingsSecrets,
  looksSecret,
  MODEL_KEY_VARIABLES,
} from "./secrets.ts";
export { MASK, maskEntry, shownServer } from "./shown.ts";
export {
  changeByHand,
  editSettingsByHand,
  listTrust,
  readBetweenChanges,
  revokeTrust,
  type SettingsEdit,
  trustProject,
} from "./by-hand.ts";
export type { Prompter, TrustRequest } from "./prompter.ts";
export type { DeclaredServer } from "./servers/read-servers.ts";
export { type HeldPart, POLICY_FILES, trustFile, whyPartHeld } from "./trust/index.ts";
