import { hash } from "node:crypto";
import { lstat, readdir, readFile, realpath } from "node:fs/promises";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
  readonly problems: readonly Problem[];
  /** Reads the folder again. Unchanged files keep their entries. */
  refresh(): Promise<void>;
  /** Reads the folder after each change from now on. Returns the function that ends this. */
  watch(onChange: () => void): () => void;
}

interface FileOptions {
  /** Decides which files may be used; without it, all may. */
  readonly gate: SkillGate | undefined;
  readonly warn: (text: string) => void;
}

/** Returns the file of an automation in its folder. */
export function getAutomationFile(folder: string, name: string): string {
  return join(folder, `${name}.yaml`);
}

const FILE_NAME = /^(?<name>[^._].*)\.yaml$/;

export function openAutomationFiles(folder: string, { gate, warn }: FileOptions): AutomationFiles {
  let entries: ReadonlyMap<string, AutomationEntry> = new Map();
  let reading: Promise<void> = Promise.resolve();

  async function read(): Promise<void> {
    await gate?.refresh();
    const names = (await readdir(folder).catch(() => [])).flatMap(
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
    const next = reading.then(read);
    reading = next.catch(() => {}); // the caller gets the error
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
      // A folder that does not exist yet is seen when it is created.
      const [watched, isMeant] = existsSync(folder)
        ? [folder, (name: string) => FILE_NAME.test(name)]
        : [dirname(folder), (name: string) => name === basename(folder)];
      return watchFolder(watched, isMeant, { onChange: reload, onFailure: fail });
    },
  };
}

async function readEntry(
  path: string,
  {
    name,
    before,
    gate,
  }: Pick<FileOptions, "gate"> & { readonly name: string; readonly before: AutomationEntry | undefined },
): Promise<AutomationEntry> {
  try {
    const facts = await lstat(path);
    if (!facts.isFile()) return { kind: "unusable", name, why: "it is not a regular file" };
    if (facts.size > MAX_AUTOMATION_BYTES)
      return { kind: "unusable", name, why: `it has ${facts.size} bytes; at most ${MAX_AUTOMATION_BYTES} are read` };
    const text = await readFile(path, "utf8");
    const digest = hash("sha256", text);
    const why = await gate?.whyHeld([[await realpath(path), digest]]);
    if (why !== undefined) return { kind: "unusable", name, why: describeHeld(`the automation ${name}`, why) };
    if (before?.kind === "file" && before.digest === digest) return before;
    return { kind: "file", name, file: parseAutomationFile(name, text), text, digest };
  } catch (error) {
    return { kind: "unusable", name, why: error instanceof SkillgateError ? error.message : getMessage(error) };
  }
}
