import { createHash, randomUUID } from "node:crypto";
import {
  accessSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { access, constants, mkdir, mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { isRecord } from "../../../model/json.ts";
import type { ModuleFormat, ReadModule } from "../type-reader/index.ts";

/** What is kept of a module until one of its files changes. */
export interface Prepared {
  readonly reading: ReadModule;
  /** What could not be read in it. */
  readonly warnings: readonly string[];
  /** The bundle, ready to be imported. */
  readonly bundle: string;
  readonly format: ModuleFormat;
  /** Every file that went into it. */
  readonly files: readonly string[];
}

export interface Cache {
  readonly dir: string;
  find(entry: string): Prepared | undefined;
  store(entry: string, made: PreparedSource): Prepared;
  close(): Promise<void>;
}

export interface PreparedSource {
  readonly reading: ReadModule;
  readonly warnings: readonly string[];
  readonly text: string;
  readonly format: ModuleFormat;
  readonly files: readonly string[];
  readonly packages: readonly string[];
  /** When the first of the files was read. */
  readonly since: number;
}

/**
 * Keeps what was made of skill files: bundles under the hash of their text, so that one never changes, and for each
 * entry what was read in it. It is found again only as long as all files and this code are what they were.
 */
export async function openCache(wanted: string = join(homedir(), ".cache", "skillgate", "skills")): Promise<Cache> {
  const { dir, isOwn } = await folderFor(wanted);
  let hasGrown = false;
  let spare: string | undefined;
  return {
    dir,
    find: (entry) => find(dir, entry),
    store: (entry, made) => {
      hasGrown = true;
      try {
        return store(spare ?? dir, entry, made);
      } catch {
        // A disk that is full: what is needed now may lie elsewhere.
        return store((spare ??= realpathSync(mkdtempSync(OWN_FOLDER))), entry, made);
      }
    },
    close: async () => {
      if (isOwn) await rm(dir, { recursive: true, force: true });
      else if (hasGrown) await prune(dir);
      if (spare !== undefined) await rm(spare, { recursive: true, force: true });
    },
  };
}

/** The beginning of the name of a folder that lasts as long as the process. */
const OWN_FOLDER = join(tmpdir(), "skillgate-skills-");

/** Where the wanted folder cannot be had, one that lasts as long as the process. */
async function folderFor(wanted: string): Promise<{ readonly dir: string; readonly isOwn: boolean }> {
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    await access(wanted, constants.W_OK);
    return { dir: await realpath(wanted), isOwn: false };
  } catch {
    // A home that is missing or read-only: nothing is kept then, and everything works.
    return { dir: await realpath(await mkdtemp(OWN_FOLDER)), isOwn: true };
  }
}

/** An entry of the cache, as it lies in its file. */
interface CacheEntry {
  readonly code: string;
  readonly hashes: readonly (readonly [file: string, hash: string, stamp: string])[];
  readonly packages: readonly string[];
  readonly prepared: Prepared;
}

/** Like all of what follows, not in the background: for hundreds of small files that takes many times as long. */
function find(dir: string, entry: string): Prepared | undefined {
  try {
    const kept: unknown = JSON.parse(readFileSync(indexFile(dir, entry), "utf8"));
    if (!isKept(kept)) return undefined;
    if (!kept.hashes.every(([file, hash, stamp]) => isAsItWas(file, hash, stamp))) return undefined;
    for (const file of [kept.prepared.bundle, ...kept.packages]) accessSync(file);
    return kept.prepared;
  } catch {
    // Not there, not whole, or made of files that are gone: it is made anew.
    return undefined;
  }
}

/** A file that was touched, or checked out anew, may still say what it said. */
function isAsItWas(file: string, hash: string, stamp: string): boolean {
  return formatStamp(statSync(file)) === stamp || hashText(readFileSync(file)) === hash;
}

function formatStamp({ mtimeMs, size }: Stats): string {
  return `${mtimeMs} ${size}`;
}

/** Only this very code has written what bears its hash. */
function isKept(value: unknown): value is CacheEntry {
  return isRecord(value) && value["code"] === codeHash();
}

function store(dir: string, entry: string, made: PreparedSource): Prepared {
  const { reading, warnings, text, format, files, packages, since } = made;
  const bundle = join(dir, `${hashText(text)}.${format === "esm" ? "mjs" : "cjs"}`);
  const prepared: Prepared = { reading, warnings, bundle, format, files };
  write(bundle, text);
  const facts = files.map((file) => ({ file, stats: statSync(file) }));
  const hashes = facts.map(({ file, stats }) => [file, hashText(readFileSync(file)), formatStamp(stats)] as const);
  // A file that changed meanwhile has another hash than what was read of it: the next one to ask makes it anew.
  if (facts.every(({ stats }) => stats.mtimeMs < since)) {
    write(indexFile(dir, entry), JSON.stringify({ code: codeHash(), hashes, packages, prepared } satisfies CacheEntry));
  }
  return prepared;
}

/** Another process may read at the same time, so a file appears whole or not at all. */
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
  return join(dir, `${hashText(entry)}.json`);
}

function hashText(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex").slice(0, 32);
}

let code: string | undefined;

/** Identifies the code of this room: what another version has kept may mean something else. */
function codeHash(): string {
  const room = dirname(dirname(fileURLToPath(import.meta.url)));
  code ??= hashText(
    readdirSync(room, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.[jt]s$/.test(name))
      .sort()
      .map((name) => readFileSync(join(room, name), "utf8"))
      .join("\n"),
  );
  return code;
}

const DAY_MS = 24 * 3_600_000;
/** How long something is kept after it was made: what an entry names, and what none names any more. */
const KEPT_MS = { named: 90 * DAY_MS, nameless: 7 * DAY_MS };

/** Throws away what was made long ago; what is still wanted is made anew. */
async function prune(dir: string): Promise<void> {
  const now = Date.now();
  const names = await readdir(dir);
  const named = bundlesNamedIn(dir, names);
  for (const name of names) {
    const file = join(dir, name);
    const keptMs = name.endsWith(".json") || named.has(file) ? KEPT_MS.named : KEPT_MS.nameless;
    const facts = await stat(file).catch(() => undefined);
    if (facts !== undefined && now - facts.mtimeMs > keptMs) await rm(file, { force: true });
  }
}

/** Each save of a skill leaves a bundle behind that the next one no longer names. */
function bundlesNamedIn(dir: string, names: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>();
  for (const name of names.filter((each) => each.endsWith(".json"))) {
    try {
      const kept: unknown = JSON.parse(readFileSync(join(dir, name), "utf8"));
      if (isKept(kept)) named.add(kept.prepared.bundle);
    } catch {
      // Another process has thrown it away, or it is not whole.
    }
  }
  return named;
}
