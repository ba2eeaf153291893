import { randomUUID } from "node:crypto";
import {
  accessSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { access, constants, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { basename, join } from "node:path";

import { readRegularFile } from "../../../shared/files/regular-file.ts";
import { digestBytes } from "../source-files.ts";
import { findPackageFile } from "../../../../sandbox/package-files.ts";
import { isRecord } from "../../../model/json.ts";
import type { CompiledModule } from "./compile.ts";
import type { ModuleFormat, ReadModule } from "../type-reader/index.ts";
import { makeFolder } from "../../../shared/files/make-folder.ts";
import { setBounded } from "../../../shared/lru.ts";

/** The cached result for a module, valid until one of its files changes. */
export interface Prepared {
  readonly definitions: ReadModule;
  /** Reports of types that could not be read. */
  readonly warnings: readonly string[];
  /** The bundle, ready to be imported. */
  readonly bundle: string;
  readonly format: ModuleFormat;
  /** Every source file of the bundle. */
  readonly files: readonly string[];
  /** The digests of the bytes that the bundle was made of, and of the package files that it imports, by their paths. */
  readonly digests: readonly (readonly [file: string, digest: string])[];
}

export interface Cache {
  readonly dir: string;
  find(entry: string): Prepared | undefined;
  store(entry: string, source: PreparedSource): Prepared;
  close(): Promise<void>;
}

export interface PreparedSource {
  readonly definitions: ReadModule;
  readonly warnings: readonly string[];
  readonly compiled: CompiledModule;
  readonly files: readonly string[];
  readonly digests: ReadonlyMap<string, string>;
  /** Time at which the first file was read. */
  readonly since: number;
}

/**
 * Caches compiled skill files: immutable bundles by the hash of their text, and an index file for each entry. An entry
 * is valid only while all its files and this code are unchanged.
 */
export async function openCache(folder: string = join(homedir(), ".cache", "skillgate", "skills")): Promise<Cache> {
  const { dir, isOwn } = await folderFor(folder);
  let hasGrown = false;
  let spare: string | undefined;
  return {
    dir,
    find: (entry) => find(dir, entry),
    store: (entry, source) => {
      hasGrown = true;
      try {
        return store(spare ?? dir, entry, source);
      } catch {
        // The disk may be full: use a temporary folder.
        return store((spare ??= realpathSync(mkdtempSync(OWN_FOLDER))), entry, source);
      }
    },
    close: async () => {
      if (isOwn) await rm(dir, { recursive: true, force: true });
      else if (hasGrown) await prune(dir);
      if (spare !== undefined) await rm(spare, { recursive: true, force: true });
    },
  };
}

/** Path prefix of a temporary folder for this process. */
const OWN_FOLDER = join(tmpdir(), "skillgate-skills-");

/** Returns the wanted folder, or a temporary one for this process if that is not writable. */
async function folderFor(folder: string): Promise<{ readonly dir: string; readonly isOwn: boolean }> {
  try {
    await makeFolder(folder, 0o700);
    await access(folder, constants.W_OK);
    return { dir: await realpath(folder), isOwn: false };
  } catch {
    // The home folder is missing or read-only: work without a persistent cache.
    return { dir: await realpath(await mkdtemp(OWN_FOLDER)), isOwn: true };
  }
}

/** The content of an index file. */
interface PreparedEntry {
  readonly code: string;
  /** The stamps of the files of `prepared.digests`, in their order. */
  readonly stamps: readonly string[];
  /** Files that must exist: the other parts of the bundle, and those of packages. */
  readonly packages: readonly string[];
  readonly prepared: Prepared;
}

/** Synchronous, like the functions below: for hundreds of small files, asynchronous access is many times slower. */
function find(dir: string, entry: string): Prepared | undefined {
  const index = indexFile(dir, entry);
  const cached = remembered.get(index);
  if (cached !== undefined && isCurrent(cached)) return cached.prepared;
  try {
    const stored: unknown = JSON.parse(readFileSync(index, "utf8"));
    if (!isPreparedEntry(stored) || !isCurrent(stored)) return undefined;
    setBounded(remembered, [index, stored], MAX_REMEMBERED);
    return stored.prepared;
  } catch {
    return undefined; // the entry is missing or damaged: compile again
  }
}

/** The entries that were used last in this process: the trust of a project asks for the same ones as the loader. */
const remembered = new Map<string, PreparedEntry>();
const MAX_REMEMBERED = 500;

/** False for an entry with changed or deleted files. */
function isCurrent({ prepared: { digests, bundle }, stamps, packages }: PreparedEntry): boolean {
  try {
    for (const file of [bundle, ...packages]) accessSync(file);
    return digests.every(([file, digest], at) => isAsItWas(file, digest, stamps[at]));
  } catch {
    return false;
  }
}

/**
 * Compares the digest if the stamp differs: a file that was touched or checked out again may be unchanged. A stamp proves
 * nothing to the trust of a project, which compares the digests of the bundle itself.
 */
function isAsItWas(file: string, digest: string, stamp: string | undefined): boolean {
  return formatStamp(statSync(file)) === stamp || digestBytes(readRegularFile(file)) === digest;
}

function formatStamp({ mtimeMs, ctimeMs, size }: Stats): string {
  return `${mtimeMs} ${ctimeMs} ${size}`;
}

/** Checks that the same version of this code wrote the entry. */
function isPreparedEntry(value: unknown): value is PreparedEntry {
  return isRecord(value) && value["code"] === codeHash();
}

function store(dir: string, entry: string, source: PreparedSource): Prepared {
  const { definitions, warnings, compiled, files, digests, since } = source;
  const bundles = compiled.createFiles(compiled.digest).map(({ name, text }) => ({ path: join(dir, name), text }));
  for (const { path, text } of bundles) write(path, text);
  const [bundle = "", ...parts] = bundles.map(({ path }) => path);
  const prepared: Prepared = { definitions, warnings, bundle, format: compiled.format, files, digests: [...digests] };
  const packages = [...parts, ...compiled.packages];
  const facts = prepared.digests.map(([file]) => statSync(file));
  // If a file changed during compilation, no index is written and the next request compiles again.
  if (facts.every(({ mtimeMs, ctimeMs }) => Math.max(mtimeMs, ctimeMs) < since)) {
    const stamps = facts.map(formatStamp);
    write(
      indexFile(dir, entry),
      JSON.stringify({ code: codeHash(), stamps, packages, prepared } satisfies PreparedEntry),
    );
  }
  return prepared;
}

/** Writes a file atomically, because another process may read it at the same time. */
function write(file: string, text: string): void {
  const part = `${file}.${randomUUID()}.part`;
  try {
    writeFileSync(part, text, { mode: 0o600 });
    renameSync(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}

function indexFile(dir: string, entry: string): string {
  return join(dir, `${digestBytes(entry).slice(0, 32)}.json`);
}

let code: string | undefined;

/** Returns the fingerprint of the build: entries of another version may have another meaning. */
function codeHash(): string {
  const getUrl = (): URL => new URL("../../../../.fingerprint", import.meta.url);
  code ??= readFileSync(findPackageFile(".fingerprint", getUrl), "utf8");
  return code;
}

const DAY_MS = 24 * 3_600_000;
/** Retention by age: files that an index references, and files that none references any more. */
const KEPT_MS = { referenced: 90 * DAY_MS, nameless: 7 * DAY_MS };

/** The time of this file is that of the last search for old files: a large cache takes a second. */
const PRUNED = "pruned";

/** Deletes old files, once a day; those still needed are compiled again on demand. */
async function prune(dir: string): Promise<void> {
  const now = Date.now();
  const last = await stat(join(dir, PRUNED)).catch(() => undefined);
  if (last !== undefined && now - last.mtimeMs < DAY_MS) return;
  await writeFile(join(dir, PRUNED), "", { mode: 0o600 });
  const names = (await readdir(dir)).filter((name) => name !== PRUNED);
  const referenced = bundlesNamedIn(dir, names);
  for (const name of names) {
    const file = join(dir, name);
    const keptMs = name.endsWith(".json") || referenced.has(getStem(name)) ? KEPT_MS.referenced : KEPT_MS.nameless;
    const facts = await stat(file).catch(() => undefined);
    if (facts !== undefined && now - facts.mtimeMs > keptMs) await rm(file, { force: true });
  }
}

/** Returns what the names of all parts of one bundle have in common. */
function getStem(name: string): string {
  return name.split(/[-.]/, 1)[0] ?? "";
}

/** Returns the stems of the bundles that an index references. Each save of a skill leaves one unreferenced bundle. */
function bundlesNamedIn(dir: string, names: readonly string[]): ReadonlySet<string> {
  const bundles = new Set<string>();
  for (const name of names.filter((each) => each.endsWith(".json"))) {
    try {
      const stored: unknown = JSON.parse(readFileSync(join(dir, name), "utf8"));
      if (isPreparedEntry(stored)) bundles.add(getStem(basename(stored.prepared.bundle)));
    } catch {
      // Another process deleted the file, or it is damaged.
    }
  }
  return bundles;
}
