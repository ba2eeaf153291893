import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { isRecord } from "../../../model/json.ts";
import { killGroup } from "./kill-group.ts";

/** A process that leads a group. Its id can be used again, but not with the same time of start. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}

/** Which groups a process has started and not yet stopped, in a file that outlives it. */
export interface ProcessRegistry {
  write(leaders: readonly ProcessIdentity[]): void;
}

/** `undefined` where the system does not say when a process was started, or has no folder for us. */
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
        // Without the ledger only what `kill -9` leaves behind is not found.
      }
    },
  };
}

/** Kills what processes have left behind that were killed themselves before they could stop it. */
export function killOrphans(): void {
  const folder = getRegistryFolder();
  if (folder === undefined) return;
  for (const name of readdirSync(folder)) {
    const [, pid, started] = /^(\d+)-(\d+)\.json$/.exec(name) ?? [];
    if (pid === undefined || getProcessIdentity(Number(pid))?.started === started) continue;
    for (const leader of readIdentities(join(folder, name))) killLeaderGroup(leader);
    rmSync(join(folder, name), { force: true });
  }
}

/** What is known of a process now; `undefined` if there is none, or the system does not say. */
export function getProcessIdentity(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in brackets that can hold anything; the start is the 22nd.
    const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return started === undefined ? undefined : { pid, started };
  } catch {
    return undefined; // there is no such process, or no such file system
  }
}

/** As long as a group has members its id is not used again: without its leader, it is still the same group. */
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

/** A folder of our own: in one of somebody else there could be anything. */
function getRegistryFolder(): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  const folder = join(tmpdir(), `skillgate-${user}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    return uid === user && (mode & 0o077) === 0 ? folder : undefined;
  } catch {
    return undefined; // nothing can be written there
  }
}
