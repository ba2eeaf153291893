import { getMessage } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { LogLevel } from "../../model/skill.ts";
import type { Contents, SkillsFolder } from "./folder.ts";
import { foldersToWatch, type Watch, watchFolders } from "../../shared/files/watch-folders.ts";

/** Watches a skills folder: reloads it when something in it changes, and notifies the listeners. */
export class WatchedFolder {
  readonly #folder: SkillsFolder;
  readonly #root: string;
  readonly #log: (level: LogLevel, text: string) => void;
  readonly #listeners = new Set<() => void>();
  #contents: Contents;
  #watch: Watch | undefined;
  #lastLook: Promise<void> = Promise.resolve();
  #isWaiting = false;
  #isClosed = false;

  constructor(folder: SkillsFolder, root: string, log: (level: LogLevel, text: string) => void) {
    this.#folder = folder;
    this.#root = root;
    this.#log = log;
    this.#contents = folder.contents;
    folder.onLateChange(() => this.#publish());
  }

  get contents(): Contents {
    return this.#contents;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Reloads the folder after any reload in progress. Requests made before a reload starts share it. */
  refresh(): Promise<void> {
    if (this.#isWaiting) return this.#lastLook;
    this.#isWaiting = true;
    const refresh = this.#lastLook.then(async () => {
      this.#isWaiting = false;
      if (!this.#isClosed) await this.#refresh();
    });
    // A failed reload rejects for its callers only; later reloads still run.
    this.#lastLook = refresh.catch(() => undefined);
    return refresh;
  }

  /** Watches for changes from now on. */
  async watch(): Promise<void> {
    const onFailure = (error: unknown): void =>
      this.#log("warn", `Cannot watch the skills folder: ${getMessage(error)}`);
    this.#watch = watchFolders(() => void this.refresh().catch(onFailure), onFailure);
    await this.refresh();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watch?.close();
    await this.#lastLook;
  }

  async #refresh(): Promise<void> {
    do {
      await this.#folder.refresh();
    } while (await this.#followFolders());
    this.#publish();
  }

  /** Notifies the listeners of new contents. */
  #publish(): void {
    if (this.#isClosed) return;
    const before = this.#contents;
    this.#contents = this.#folder.contents;
    if (isSame(before, this.#contents)) return;
    if (this.#watch !== undefined) this.#logNewProblems(before);
    for (const listener of this.#listeners) listener();
  }

  #logNewProblems({ problems: before }: Contents): void {
    const earlier = new Set(before.map(describe));
    for (const problem of this.#contents.problems.map(describe)) if (!earlier.has(problem)) this.#log("warn", problem);
  }

  /** Returns true if a folder is newly watched: an earlier change in it may have been missed. */
  async #followFolders(): Promise<boolean> {
    if (this.#watch === undefined || this.#isClosed) return false;
    return this.#watch.follow(await foldersToWatch(this.#root, this.#folder.contents.files));
  }
}

function describe({ source, error }: Problem): string {
  return `${source}: ${error}`;
}

function isSame(before: Contents, after: Contents): boolean {
  const isSameSkills =
    before.skills.length === after.skills.length &&
    after.skills.every((skill, index) => skill === before.skills[index]);
  return isSameSkills && JSON.stringify(before.problems) === JSON.stringify(after.problems);
}
