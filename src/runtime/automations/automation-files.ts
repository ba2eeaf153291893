import { realpath } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

import type { AutomationFile } from "../../automations/index.ts";
import { getMessage } from "../../errors.ts";
import { describeHeld, type SkillGate } from "../../model/provider.ts";
import { watchFolder } from "../../shared/watch-file.ts";
import { type StampedContent, getAutomationFile, isAutomationFile, readContents } from "./file-contents.ts";

/** The file of an automation as it was read. */
export type AutomationEntry =
  | {
      readonly kind: "file";
      readonly name: string;
      readonly file: AutomationFile;
      readonly text: string;
      /** SHA-256 of the text. */
      readonly digest: string;
    }
  /** It cannot be used, or its project is not trusted. */
  | { readonly kind: "unusable"; readonly name: string; readonly why: string };

/** The folder of automations. */
export interface AutomationFiles {
  /** Absolute. */
  readonly folder: string;
  get(name: string): AutomationEntry | undefined;
  list(): readonly AutomationEntry[];
  listNames(): readonly string[];
  /** Reads the folder again; unchanged files are not. Rejects for one that cannot be read or is too large: then nothing changes. */
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

export function openAutomationFiles(
  folder: string,
  { gate, warn, lookMs = LOOK_MS }: AutomationFileOptions,
): AutomationFiles {
  let entries: ReadonlyMap<string, AutomationEntry> = new Map();
  let contents: ReadonlyMap<string, StampedContent> = new Map();
  let lastReading: Promise<void> = Promise.resolve();
  let nextReading: Promise<void> | undefined;

  async function read(): Promise<void> {
    await gate?.refresh();
    const next = await readContents(folder, contents);
    const fresh = new Map<string, AutomationEntry>();
    for (const [name, content] of next) {
      if (content !== contents.get(name)) await nextTurn(); // it is parsed
      fresh.set(name, await createEntry(name, content, { path: getAutomationFile(folder, name), gate }));
    }
    entries = fresh;
    contents = next;
  }

  /** Calls before the next reading begins have that reading in common. */
  const refresh = (): Promise<void> => {
    nextReading ??= lastReading.then(() => {
      nextReading = undefined;
      const task = read();
      lastReading = task.catch(() => {}); // the callers get the error
      return task;
    });
    return nextReading;
  };

  return {
    folder,
    get: (name) => entries.get(name),
    list: () => [...entries.values()],
    listNames: () => [...entries.keys()],
    refresh,
    watch(onChange) {
      const fail = (error: unknown): void => warn(`Cannot follow the folder of automations: ${getMessage(error)}`);
      const reload = (): void => void refresh().then(onChange, fail);
      const stop = watchFolder(folder, isAutomationFile, { onChange: reload, onFailure: fail });
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

function isSame(before: ReadonlyMap<string, AutomationEntry>, now: ReadonlyMap<string, AutomationEntry>): boolean {
  const describe = (entry: AutomationEntry | undefined): string | undefined =>
    entry?.kind === "file" ? entry.digest : entry?.why;
  return before.size === now.size && [...now].every(([name, entry]) => describe(before.get(name)) === describe(entry));
}

/** Without trust, a file is not parsed: its text may be hostile. */
async function createEntry(
  name: string,
  content: StampedContent,
  { path, gate }: Pick<AutomationFileOptions, "gate"> & { readonly path: string },
): Promise<AutomationEntry> {
  try {
    if (content.kind === "unreadable") return { kind: "unusable", name, why: content.why };
    const { text, digest } = content;
    const why = await gate?.whyHeld([[await realpath(path), digest]]);
    if (why !== undefined) return { kind: "unusable", name, why: describeHeld(`the automation ${name}`, why) };
    return { kind: "file", name, file: content.parse(), text, digest };
  } catch (error) {
    return { kind: "unusable", name, why: getMessage(error) };
  }
}
