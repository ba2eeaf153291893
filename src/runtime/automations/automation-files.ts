import { hash } from "node:crypto";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import type { Stats } from "node:fs";
import { join } from "node:path";

import { type AutomationFile, MAX_AUTOMATION_BYTES, parseAutomationFile } from "../../automations/index.ts";
import { getMessage, SkillgateError } from "../../errors.ts";
import { describeHeld, type Problem, type SkillGate } from "../../model/provider.ts";
import { watchFolder } from "../../shared/watch-file.ts";

/** The file of an automation as it was read. */
export type AutomationEntry =
  | {
      readonly kind: "file";
      readonly name: string;
      readonly file: AutomationFile;
      readonly text: string;
      /** SHA-256 of the text. */
      readonly digest: string;
      /** Identifies the state of the file that was read. */
      readonly stamp: string;
    }
  /** It cannot be used, or its project is not trusted. */
  | { readonly kind: "unusable"; readonly name: string; readonly why: string };

/** The folder of automations. */
export interface AutomationFiles {
  /** Absolute. */
  readonly folder: string;
  get(name: string): AutomationEntry | undefined;
  list(): readonly AutomationEntry[];
  readonly problems: readonly Problem[];
  /** Reads the folder again. Unchanged files keep their entries. */
  refresh(): Promise<void>;
  /** Reads the folder, which must exist, after each change from now on. Returns the function that ends this. */
  watch(onChange: () => void): () => void;
}

interface AutomationFileOptions {
  /** Decides which files may be used; without it, all may. */
  readonly gate: SkillGate | undefined;
  readonly warn: (text: string) => void;
  /** Milliseconds between two looks at a folder that is watched. */
  readonly lookMs?: number;
}

/** No event tells that a folder was removed and created again, nor of changes in some file systems of a network. */
const LOOK_MS = 60_000;

/** Returns the file of an automation in its folder. */
export function getAutomationFile(folder: string, name: string): string {
  return join(folder, `${name}.yaml`);
}

const FILE_NAME = /^(?<name>[^._].*)\.yaml$/;

export function openAutomationFiles(
  folder: string,
  { gate, warn, lookMs = LOOK_MS }: AutomationFileOptions,
): AutomationFiles {
  let entries: ReadonlyMap<string, AutomationEntry> = new Map();
  let lastReading: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    await gate?.refresh();
    const names = (await readdir(folder).catch(ignoreAbsence)).flatMap(
      (each) => FILE_NAME.exec(each)?.groups?.["name"] ?? [],
    );
    const fresh = new Map<string, AutomationEntry>();
    for (const name of names.toSorted()) {
      const before = entries.get(name);
      fresh.set(name, await readEntry(getAutomationFile(folder, name), { name, before, gate }));
    }
    entries = fresh;
  }

  const refresh = (): Promise<void> => {
    const next = lastReading.then(read);
    lastReading = next.catch(() => {}); // the caller gets the error
    return next;
  };

  return {
    folder,
    get: (name) => entries.get(name),
    list: () => [...entries.values()],
    get problems() {
      return [...entries.values()].flatMap((entry) =>
        entry.kind === "file" ? [] : [{ source: `automations/${entry.name}.yaml`, error: entry.why }],
      );
    },
    refresh,
    watch(onChange) {
      const fail = (error: unknown): void => warn(`Cannot follow the folder of automations: ${getMessage(error)}`);
      const reload = (): void => void refresh().then(onChange, fail);
      const stop = watchFolder(folder, (name) => FILE_NAME.test(name), { onChange: reload, onFailure: fail });
      const checkFolder = async (): Promise<void> => {
        const before = entries;
        await refresh();
        if (!isSame(before, entries)) onChange();
      };
      const timer = setInterval(() => void checkFolder().catch(fail), lookMs).unref();
      return () => {
        clearInterval(timer);
        stop();
      };
    },
  };
}

/** Without its folder, a project has no automations. Any other error may pass, and must not end their schedules. */
function ignoreAbsence(error: NodeJS.ErrnoException): readonly string[] {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
  throw error;
}

function isSame(before: ReadonlyMap<string, AutomationEntry>, now: ReadonlyMap<string, AutomationEntry>): boolean {
  const describe = (entry: AutomationEntry | undefined): string | undefined =>
    entry?.kind === "file" ? entry.digest : entry?.why;
  return before.size === now.size && [...now].every(([name, entry]) => describe(before.get(name)) === describe(entry));
}

async function readEntry(
  path: string,
  {
    name,
    before,
    gate,
  }: Pick<AutomationFileOptions, "gate"> & { readonly name: string; readonly before: AutomationEntry | undefined },
): Promise<AutomationEntry> {
  try {
    const facts = await lstat(path);
    if (!facts.isFile()) return { kind: "unusable", name, why: "it is not a regular file" };
    if (facts.size > MAX_AUTOMATION_BYTES)
      return { kind: "unusable", name, why: `it has ${facts.size} bytes; at most ${MAX_AUTOMATION_BYTES} are read` };
    const stamp = createStamp(facts);
    const same = before?.kind === "file" && before.stamp === stamp ? before : undefined;
    const text = same?.text ?? (await readFile(path, "utf8"));
    const digest = same?.digest ?? hash("sha256", text);
    const why = await gate?.whyHeld([[await realpath(path), digest]]);
    if (why !== undefined) return { kind: "unusable", name, why: describeHeld(`the automation ${name}`, why) };
    if (before?.kind === "file" && before.digest === digest) return { ...before, stamp };
    return { kind: "file", name, file: parseAutomationFile(name, text), text, digest, stamp };
  } catch (error) {
    return { kind: "unusable", name, why: error instanceof SkillgateError ? error.message : getMessage(error) };
  }
}

/** A file that was changed a moment ago may be changed once more without another time. */
const FRESH_MS = 2_000;

/** Identifies the state of a file without its bytes; never the same twice for one that was changed a moment ago. */
function createStamp({ mtimeMs, ctimeMs, size, ino }: Stats): string {
  const now = Date.now();
  return now - Math.max(mtimeMs, ctimeMs) < FRESH_MS
    ? `fresh ${now} ${performance.now()}`
    : `${mtimeMs} ${ctimeMs} ${size} ${ino}`;
}
