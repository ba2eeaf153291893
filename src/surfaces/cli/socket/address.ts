import { createHash, createHmac, randomBytes } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

import { isRecord } from "../../../model/json.ts";
import { makeFolderSync } from "../../../shared/files/make-folder.ts";
import { getProjectStateDir } from "../../../shared/files/project-state-dir.ts";
import { VERSION } from "../../../shared/version.ts";

/** Where a process that serves a project takes commands of the same user. */
export interface SocketAddress {
  /** A Unix socket, on Windows a named pipe. */
  readonly path: string;
  /** The file that announces the socket. */
  readonly file: string;
}

/** An announced socket. */
export interface AnnouncedSocket extends SocketAddress {
  /** Proves to each side that the other one may read the files of the user. */
  readonly secret: string;
}

/** The longest path of a Unix socket that every system takes. */
const MAX_PATH_BYTES = 103;

/** Most sockets of one project that are tried. */
const MAX_SOCKETS = 8;

const MAX_FILE_BYTES = 4_096;

/** Returns the folder of all sockets of the user. Their names are short, because the path of a socket is. */
export function getSocketFolder(project: string): string {
  return join(dirname(getProjectStateDir(project)), "sockets");
}

/** Creates the address of a new socket, and its folder. Throws an error with a sentence if no socket can be there. */
export function createAddress(project: string): SocketAddress {
  const folder = getSocketFolder(project);
  makeFolderSync(folder, 0o700);
  const objection = findFolderObjection(folder);
  if (objection !== undefined) throw new Error(`${folder} ${objection}`);
  if (process.platform !== "win32") chmodSync(folder, 0o700);
  const address = getAddress(folder, `${digestProject(project)}-${randomBytes(4).toString("hex")}`);
  if (process.platform !== "win32" && Buffer.byteLength(address.path) > MAX_PATH_BYTES)
    throw new Error(`the path ${address.path} is longer than ${MAX_PATH_BYTES} bytes`);
  return address;
}

/** Announces a socket that listens. Returns its secret. */
export function announceSocket({ path, file }: SocketAddress): string {
  if (process.platform !== "win32") chmodSync(path, 0o600);
  const secret = randomBytes(32).toString("base64url");
  writeFileSync(file, JSON.stringify({ version: VERSION, secret }), { mode: 0o600, flag: "wx" });
  return secret;
}

/** Removes the files of a socket that nothing listens to. */
export function removeSocket({ path, file }: SocketAddress): void {
  rmSync(file, { force: true });
  if (process.platform !== "win32") rmSync(path, { force: true });
}

/** Lists the announced sockets of a project that this version can use, the newest first. */
export function listSockets(project: string): readonly AnnouncedSocket[] {
  const folder = getSocketFolder(project);
  const prefix = `${digestProject(project)}-`;
  const names = readNames(folder).filter((name) => name.startsWith(prefix) && /^[\da-f-]+\.json$/.test(name));
  if (names.length === 0 || findFolderObjection(folder) !== undefined || isOpenToOthers(folder)) return [];
  return names
    .map((name) => getAddress(folder, name.slice(0, -".json".length)))
    .map((address) => ({ address, time: lstatSync(address.file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.time - a.time)
    .slice(0, MAX_SOCKETS)
    .flatMap(({ address }) => readAnnouncement(address) ?? []);
}

/** Proves the knowledge of the secret, without telling it. */
export function sign(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

function getAddress(folder: string, name: string): SocketAddress {
  const path = process.platform === "win32" ? `\\\\.\\pipe\\skillgate-${name}` : join(folder, `${name}.sock`);
  return { path, file: join(folder, `${name}.json`) };
}

function digestProject(project: string): string {
  return createHash("sha256").update(realpathSync(project)).digest("hex").slice(0, 16);
}

/** Says why a folder is not safe: others could put a socket there. */
function findFolderObjection(folder: string): string | undefined {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return "is not a folder";
  if (process.getuid !== undefined && stats.uid !== process.getuid()) return "belongs to another user";
  return undefined;
}

/** True for a folder in which other users can create files. A server closes it when it starts. */
function isOpenToOthers(folder: string): boolean {
  return process.platform !== "win32" && (statSync(folder).mode & 0o022) !== 0;
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // nothing was served yet
  }
}

/** A file is hostile until it is parsed. */
function readAnnouncement(address: SocketAddress): AnnouncedSocket | undefined {
  try {
    const stats = lstatSync(address.file);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return undefined;
    const value: unknown = JSON.parse(readFileSync(address.file, "utf8"));
    if (!isRecord(value) || value["version"] !== VERSION || typeof value["secret"] !== "string") return undefined;
    return { ...address, secret: value["secret"] };
  } catch {
    return undefined; // removed meanwhile, or half a file
  }
}

/** Variables that decide what the program itself does. */
const OWN_NAMES = [
  "HOME",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "SKILLGATE_TRUSTED_FOLDERS",
  "SKILLGATE_UNAPPROVED",
  "NODE_OPTIONS",
  "NODE_EXTRA_CA_CERTS",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "TZ",
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]),
];

/** Names that the texts of a project mention: placeholders, members of `process.env`, and words in capitals. */
const NAMES =
  /\$\{(?:env:)?([A-Za-z_]\w{0,200})|\{env:([A-Za-z_]\w{0,200})|\benv(?:\?\.|\.|(?:\?\.)?\[["'`])([A-Za-z_]\w{0,200})|\b([A-Z][A-Z0-9_]{1,200})\b/g;

/** The most names that a project may mention. */
export const MAX_NAMES = 5_000;

/** Lists the names of environment variables that texts of a project may read. */
export function listVariableNames(texts: Iterable<string>): readonly string[] {
  const names = new Set(OWN_NAMES);
  for (const text of texts)
    for (const [, ...groups] of text.matchAll(NAMES)) names.add(groups.find((group) => group !== undefined) ?? "");
  return [...names].toSorted();
}

/** Signs the values of variables, so that two processes can compare them without telling them. */
export function signVariables(secret: string, names: readonly string[], env: NodeJS.ProcessEnv = process.env): string {
  return sign(secret, JSON.stringify(names.map((name) => [name, env[name] ?? null])));
}
