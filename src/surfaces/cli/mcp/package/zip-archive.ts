import { crc32, inflateRawSync } from "node:zlib";

import { UsageError } from "../../usage-error.ts";

/** Maximum number of files in an archive. */
const MAX_FILES = 20_000;

/** Maximum number of bytes of all unpacked files. */
const MAX_UNPACKED_BYTES = 1 << 30;

/** Maximum length of a path in an archive. */
const MAX_PATH_UNITS = 400;

/** One file of an archive. */
export interface ArchivedFile {
  /** Relative, with slashes; stays inside the folder into which it is unpacked. */
  readonly path: string;
  readonly isExecutable: boolean;
  read(): Buffer;
}

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;

/** Bytes after the end of the archive in which its end record is searched: a comment, or a signature. */
const TAIL_BYTES = 1 << 20;

/**
 * Lists the files of a zip archive, without its folders. Throws a `UsageError` for an archive that is damaged or too large, and for
 * one with links, or with paths that lead out of its folder.
 */
export function listArchive(bytes: Buffer): readonly ArchivedFile[] {
  const { count, offset } = findDirectory(bytes);
  if (count > MAX_FILES) throw refusal(`it has ${count} files, and the limit is ${MAX_FILES}`);
  const files: ArchivedFile[] = [];
  const otherPaths = new Map<string, string>();
  let total = 0;
  let at = offset;
  for (let index = 0; index < count; index++) {
    const entry = readEntry(bytes, at);
    at = entry.end;
    if (entry.path.endsWith("/") && entry.size === 0) continue;
    requireSafe(entry, otherPaths);
    total += entry.size;
    if (total > MAX_UNPACKED_BYTES) throw refusal(`its files have more than ${MAX_UNPACKED_BYTES} bytes`);
    const isExecutable = (entry.mode & 0o111) !== 0;
    files.push({ path: entry.path, isExecutable, read: () => unpack(bytes, entry) });
  }
  return files;
}

interface ArchiveEntry {
  readonly path: string;
  readonly mode: number;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly packedSize: number;
  readonly size: number;
  readonly localOffset: number;
  readonly end: number;
}

function findDirectory(bytes: Buffer): { readonly count: number; readonly offset: number } {
  const first = Math.max(0, bytes.length - END_BYTES - TAIL_BYTES);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes[at] !== 0x50 || bytes.readUInt32LE(at) !== END_SIGNATURE) continue;
    const [count, size, offset] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 12),
      bytes.readUInt32LE(at + 16),
    ];
    if (offset + size > at) continue;
    if (bytes.readUInt16LE(at + 8) !== count) throw refusal("it is a part of several archives");
    return { count, offset };
  }
  throw refusal("it is not a zip archive, or longer than 4 GB");
}

function readEntry(bytes: Buffer, at: number): ArchiveEntry {
  if (at + ENTRY_BYTES > bytes.length || bytes.readUInt32LE(at) !== ENTRY_SIGNATURE)
    throw refusal("its list of files is damaged");
  const nameEnd = at + ENTRY_BYTES + bytes.readUInt16LE(at + 28);
  const end = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  if (end > bytes.length) throw refusal("its list of files is damaged");
  const isUnix = bytes[at + 5] === 3;
  return {
    path: bytes.toString("utf8", at + ENTRY_BYTES, nameEnd),
    mode: isUnix ? bytes.readUInt16LE(at + 40) : 0,
    flags: bytes.readUInt16LE(at + 8),
    method: bytes.readUInt16LE(at + 10),
    checksum: bytes.readUInt32LE(at + 16),
    packedSize: bytes.readUInt32LE(at + 20),
    size: bytes.readUInt32LE(at + 24),
    localOffset: bytes.readUInt32LE(at + 42),
    end,
  };
}

const FILE_TYPE = 0o170000;
const REGULAR_FILE = 0o100000;
const IS_ENCRYPTED = 1;

/** Maximum folders inside of each other, with the file. */
const MAX_PARTS = 50;

/** Stands for the path of a folder, which several files have. */
const FOLDER = "a folder";

/** Refuses what a file system could take for another place, and two paths that are one where letters have no case. */
function requireSafe({ path, mode, flags }: ArchiveEntry, otherPaths: Map<string, string>): void {
  const quotedPath = JSON.stringify(path.slice(0, MAX_PATH_UNITS));
  const type = mode & FILE_TYPE;
  if (type !== 0 && type !== REGULAR_FILE) throw refusal(`${quotedPath} is a link or a special file`);
  if ((flags & IS_ENCRYPTED) !== 0) throw refusal(`${quotedPath} is encrypted`);
  const parts = path.split("/");
  const isUnsafe =
    path.length > MAX_PATH_UNITS ||
    parts.length > MAX_PARTS ||
    /[\\:\p{Cc}\uFFFD]/u.test(path) ||
    parts.some((part) => part === "" || part === "." || part === ".." || /[. ]$/.test(part));
  if (isUnsafe) throw refusal(`the path ${quotedPath} is not a path inside of its folder`);
  const keys = path.normalize("NFC").toLowerCase().split("/");
  for (let length = 1; length <= keys.length; length++) {
    const key = keys.slice(0, length).join("/");
    const other = otherPaths.get(key);
    const isFolder = length < keys.length;
    if (other !== undefined && !(isFolder && other === FOLDER))
      throw refusal(`${quotedPath} and ${JSON.stringify(other)} are one path on some systems`);
    otherPaths.set(key, isFolder ? FOLDER : path);
  }
}

function unpack(bytes: Buffer, { path, method, checksum, packedSize, size, localOffset }: ArchiveEntry): Buffer {
  const damaged = (): UsageError => refusal(`${JSON.stringify(path)} is damaged`);
  if (localOffset + LOCAL_BYTES > bytes.length || bytes.readUInt32LE(localOffset) !== LOCAL_SIGNATURE) throw damaged();
  const start = localOffset + LOCAL_BYTES + bytes.readUInt16LE(localOffset + 26) + bytes.readUInt16LE(localOffset + 28);
  if (start + packedSize > bytes.length) throw damaged();
  const packed = bytes.subarray(start, start + packedSize);
  if (method !== 0 && method !== 8) throw refusal(`${JSON.stringify(path)} is packed by an unknown method, ${method}`);
  let content: Buffer;
  try {
    content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw damaged();
  }
  if (content.length !== size || crc32(content) !== checksum) throw damaged();
  return content;
}

function refusal(why: string): UsageError {
  return new UsageError(`Cannot unpack the bundle: ${why}`);
}
