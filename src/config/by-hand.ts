import { hash } from "node:crypto";
import { dirname, join, relative } from "node:path";

import { editEnvFile, type EnvChange } from "./edit-env.ts";
import { editSettings } from "./edit-settings.ts";
import { canonicalPath, isInside, formatPathLabel } from "./read-file.ts";
import { type ConfigOptions, isTrustGiven, resolveFolders } from "./locations.ts";
import { type Config, loadConfig } from "./load-config.ts";
import { toChangeError, withChangeLock } from "./write-atomic.ts";
import { serverKey } from "./servers/read-servers.ts";
import { makeFolder } from "../shared/files/make-folder.ts";
import { createQueues } from "../shared/threads/queue.ts";
import { changeTrust, type ProjectTrust, readTrust, RESTRICTIONS, trustFile, type TrustRecord } from "./trust/index.ts";

/** Records that a project is trusted in the state that its owner has reviewed. */
export async function trustProject(options: ConfigOptions, trust: ProjectTrust): Promise<void> {
  const { parts: files, position, values, servers } = trust;
  const record = { files, isWhole: true, position, values, servers };
  const file = trustFile(options.env, resolveFolders(options).home);
  await betweenChanges(file, trust.folder, () => changeTrust(file, trust.folder, () => record));
}

/** Lists the folders of all projects with a trust record. */
export async function listTrust(options: ConfigOptions): Promise<readonly string[]> {
  return [...(await readTrust(trustFile(options.env, resolveFolders(options).home))).keys()];
}

/** Removes the trust record of a project; returns whether it had one. */
export async function revokeTrust(options: ConfigOptions, folder: string): Promise<boolean> {
  const path = canonicalPath(folder);
  const file = trustFile(options.env, resolveFolders(options).home);
  return betweenChanges(file, path, async () => {
    const isKnown = (await listTrust(options)).includes(path);
    if (isKnown) await changeTrust(file, path, () => undefined);
    return isKnown;
  });
}

/** Changes the trust of a project while no program of the same user makes a change of its owner, which ends with a record of trust. */
async function betweenChanges<Result>(file: string, folder: string, work: () => Promise<Result>): Promise<Result> {
  let isHeld = false;
  try {
    await makeFolder(dirname(file), 0o700);
    return await withChangeLock(`${file}.${hash("sha256", folder).slice(0, LOCK_NAME_DIGITS)}.lock`, folder, () => {
      isHeld = true;
      return work();
    });
  } catch (thrown) {
    throw isHeld ? thrown : toChangeError(thrown, file); // an error of the work is of another file
  }
}

const LOCK_NAME_DIGITS = 16;

/** A change that the owner makes by hand. */
export interface OwnChange {
  /** Absolute paths of the files that it writes. */
  readonly files: readonly string[];
  /** Servers that it adds or changes, by their names. */
  readonly servers?: readonly string[];
}

/**
 * Makes a change that the owner of a project has asked for. Trusts what the change writes: whole files if they were not held
 * before, and the servers that it names. What was held before stays held.
 */
export function changeByHand<Result>(
  options: ConfigOptions,
  written: OwnChange,
  change: () => Promise<Result>,
): Promise<Result> {
  return inTurn(resolveFolders(options).cwd, () => changeAndTrust(options, written, change));
}

/** A changed file and its record of trust are written one after the other, and belong together. */
const inTurn = createQueues();

/** Reads the files of a project while this process makes no change of its owner to them. */
export function readBetweenChanges<Result>(
  options: Pick<ConfigOptions, "cwd" | "env">,
  read: () => Promise<Result>,
): Promise<Result> {
  return inTurn(resolveFolders(options).cwd, read);
}

async function changeAndTrust<Result>(
  { cwd, env, home }: ConfigOptions,
  { files, servers = [] }: OwnChange,
  change: () => Promise<Result>,
): Promise<Result> {
  // Loads the project without the files that a command line names.
  const options = { cwd, env, ...(home !== undefined && { home }) };
  const folders = resolveFolders(options);
  const inProject = files.filter((file) => isInside(relative(folders.cwd, file)));
  if (inProject.length === 0) return change();
  if (isTrustGiven(options, folders)) return change();
  const file = trustFile(env, folders.home);
  return betweenChanges(file, canonicalPath(folders.cwd), async () => {
    const before = await loadConfig(options);
    const result = await change();
    const after = await loadConfig(options);
    const labels = inProject.map((path) => formatPathLabel(path, folders));
    await changeTrust(file, after.trust.folder, () => addWritten(before.trust, after, { labels, servers }));
    return result;
  });
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

interface WrittenParts {
  readonly labels: readonly string[];
  readonly servers: readonly string[];
}

/** Returns the record plus what the change has written. Changes of others in the meantime are left out. */
function addWritten(before: ProjectTrust, { trust: after, declared }: Config, written: WrittenParts): TrustRecord {
  const { labels, servers } = written;
  const writtenServers = declared.filter(({ name, file }) => servers.includes(name) && labels.includes(file.label));
  const started = new Set(writtenServers.flatMap((server) => server.started.map((path) => after.getPart(path))));
  const isWritten = (part: string): boolean =>
    started.has(part) || (labels.includes(part) && !before.reasons.has(part));
  const isGiven = (value: string): boolean =>
    (value === RESTRICTIONS && isWritten("settings.yaml")) ||
    servers.some((server) => value.endsWith(` of MCP server ${server}`));
  // A project in which nothing was held is trusted as it was then.
  const base = before.isTrusted ? { ...before, files: before.parts, isWhole: true } : before.record;
  return {
    isWhole: base.isWhole,
    position: before.isTrusted || before.record.files.size === 0 ? before.position : before.record.position,
    files: new Map([
      ...[...base.files].filter(([part]) => !labels.includes(part) || before.reasons.has(part)),
      ...[...after.parts].filter(([part]) => isWritten(part)),
    ]),
    values: new Map([...base.values, ...[...after.values].filter(([value]) => isGiven(value))]),
    servers: new Map([...base.servers, ...writtenServers.map((server) => [serverKey(server), server.digest] as const)]),
  };
}
