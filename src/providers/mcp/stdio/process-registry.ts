import { lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isRecord } from "../../../model/json.ts";
import { killGroup } from "./kill-group.ts";
import { getProcessIdentity, type ProcessIdentity } from "./process-identity.ts";
import { getMarkPrefix, killMarkedProcesses } from "./process-mark.ts";
import { makeFolderSync } from "../../../shared/files/make-folder.ts";

/** Records the groups that a process has started and not yet stopped, in a file that outlives it. */
export interface ProcessRegistry {
  write(leaders: readonly ProcessIdentity[]): void;
}

/** `undefined` if the system does not provide start times of processes, or a private folder. */
export function openProcessRegistry(): ProcessRegistry | undefined {
  const folder = getRegistryFolder();
  const self = getProcessIdentity(process.pid);
  if (folder === undefined || self === undefined) return undefined;
  const file = join(folder, `${self.pid}-${self.started}.json`);
  return {
    write(leaders) {
      try {
        if (leaders.length === 0) rmSync(file, { force: true });
        else writeFileSync(file, JSON.stringify(leaders), { mode: 0o600 });
      } catch {
        // Without the file, only orphans of a `kill -9` are not found.
      }
    },
  };
}

/** Kills the servers of processes that were killed before they could stop them. */
export function killOrphans(): void {
  const folder = getRegistryFolder();
  if (folder === undefined) return;
  for (const name of readdirSync(folder)) {
    const [, pid, started] = /^(\d+)-(\d+)\.json$/.exec(name) ?? [];
    if (pid === undefined || getProcessIdentity(Number(pid))?.started === started) continue;
    for (const leader of readIdentities(join(folder, name))) killLeaderGroup(leader);
    killMarkedProcesses(getMarkPrefix({ pid: Number(pid), started: String(started) }));
    rmSync(join(folder, name), { force: true });
  }
}

/** Kills the group of a leader. The id of a group is not reused while it has members, even without its leader. */
function killLeaderGroup(leader: ProcessIdentity): void {
  const now = getProcessIdentity(leader.pid);
  if (now === undefined || now.started === leader.started) killGroup(leader.pid, "SIGKILL");
}

function readIdentities(file: string): readonly ProcessIdentity[] {
  try {
    const written: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Array.isArray(written) ? written.filter(isIdentity) : [];
  } catch {
    return []; // another process was faster, or the writer was killed while it wrote
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return (
    isRecord(value) &&
    Number.isSafeInteger(value["pid"]) &&
    Number(value["pid"]) > 1 &&
    typeof value["started"] === "string"
  );
}

/** Returns a folder that only this user can access; `undefined` if another user owns it. */
function getRegistryFolder(): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const folder = join(tmpdir(), `skillgate-${user}`);
  try {
    makeFolderSync(folder, 0o700);
    const { uid, mode } = lstatSync(folder);
    return uid === user && (mode & 0o077) === 0 ? folder : undefined;
  } catch {
    return undefined; // the folder cannot be created
  }
}
