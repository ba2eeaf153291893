import { dirname, join, relative } from "node:path";

import { editEnvFile, type EnvChange } from "./edit-env.ts";
import { editSettings } from "./edit-settings.ts";
import { canonicalPath, isInside, formatPathLabel } from "./read-file.ts";
import { type ConfigOptions, resolveFolders } from "./locations.ts";
import { type Config, loadConfig } from "./load-config.ts";
import { serverKey } from "./servers/read-servers.ts";
import { changeTrust, type ProjectTrust, readTrust, trustFile, type TrustRecord } from "./trust/index.ts";

/** Records that a project is trusted in the state that its owner has reviewed. */
export async function trustProject(options: ConfigOptions, trust: ProjectTrust): Promise<void> {
  const { env, home } = { env: options.env, home: resolveFolders(options).home };
  const { parts, position, values } = trust;
  await changeTrust(trustFile(env, home), trust.folder, (record) => ({ ...record, parts, position, values }));
}

/** Lists the folders of all projects with a trust record. */
export async function listTrust(options: ConfigOptions): Promise<readonly string[]> {
  return [...(await readTrust(trustFile(options.env, resolveFolders(options).home))).keys()];
}

/** Removes the trust record of a project; returns whether it had one. */
export async function revokeTrust(options: ConfigOptions, folder: string): Promise<boolean> {
  const path = canonicalPath(folder);
  const isKnown = (await listTrust(options)).includes(path);
  if (isKnown) await changeTrust(trustFile(options.env, resolveFolders(options).home), path, () => undefined);
  return isKnown;
}

/** A change that the owner makes by hand. */
export interface OwnChange {
  /** Absolute paths of the files that it writes. */
  readonly files: readonly string[];
  /** Servers that it adds or changes, by their names. */
  readonly servers?: readonly string[];
}

/**
 * Makes a change that the owner of a project has asked for. What was trusted stays so with the change; what was held
 * before stays held, except for the servers that the change names.
 */
export async function changeByHand<Result>(
  { cwd, env, home }: ConfigOptions,
  { files, servers = [] }: OwnChange,
  change: () => Promise<Result>,
): Promise<Result> {
  // Loads the project without the files that a command line names.
  const options = { cwd, env, ...(home !== undefined && { home }) };
  const folders = resolveFolders(options);
  const inProject = files.filter((file) => isInside(relative(folders.cwd, file)));
  if (inProject.length === 0) return change();
  const before = await loadConfig(options);
  const result = await change();
  if (before.trust.isGiven) return result;
  const after = await loadConfig(options);
  const labels = inProject.map((file) => formatPathLabel(file, folders));
  const written = writtenServers(after, labels, servers);
  if (before.heldParts.length > 0 && written.length === 0) return result;
  await changeTrust(trustFile(env, folders.home), after.trust.folder, (record) => ({
    ...(before.heldParts.length === 0 ? wholeRecord(before, after, { labels, servers }) : record),
    servers: new Map([...record.servers, ...written]),
  }));
  return result;
}

/** Values of settings.yaml and variables of `.env`; `undefined` removes one. */
export interface SettingsEdit {
  readonly values: readonly { readonly path: readonly string[]; readonly value: unknown }[];
  readonly variables?: readonly EnvChange[];
}

/** Changes settings.yaml and the `.env` of the project on behalf of the owner, so that a trusted project stays trusted. */
export async function editSettingsByHand(
  options: ConfigOptions,
  settingsFile: string,
  { values, variables = [] }: SettingsEdit,
): Promise<void> {
  const envFile = join(resolveFolders(options).cwd, ".env");
  const files = variables.length === 0 ? [settingsFile] : [settingsFile, envFile];
  await changeByHand(options, { files }, async () => {
    await editEnvFile(dirname(envFile), variables);
    for (const { path, value } of values) await editSettings(settingsFile, path, value);
  });
}

/** Returns the trusted record plus the files and values of the change itself; leaves out all other changes. */
function wholeRecord(
  { trust: before }: Config,
  { trust: after }: Config,
  { labels, servers }: { readonly labels: readonly string[]; readonly servers: readonly string[] },
): TrustRecord {
  const isWritten = (part: string): boolean => labels.some((label) => part === label || label.startsWith(`${part}/`));
  const isGiven = (value: string): boolean => servers.some((server) => value.endsWith(` of MCP server ${server}`));
  return {
    parts: new Map([
      ...[...before.parts].filter(([part]) => !isWritten(part)),
      ...[...after.parts].filter(([part]) => isWritten(part)),
    ]),
    position: after.position,
    values: new Map([...before.values, ...[...after.values].filter(([value]) => isGiven(value))]),
    servers: new Map(),
  };
}

function writtenServers(
  { declared }: Config,
  labels: readonly string[],
  servers: readonly string[],
): readonly (readonly [key: string, digest: string])[] {
  return declared
    .filter(({ name, file }) => servers.includes(name) && labels.includes(file.label))
    .map((server) => [serverKey(server), server.digest] as const);
}
