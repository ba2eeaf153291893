import { readFileSync } from "node:fs";

/** A running process. Its id can be reused, but not with the same start time. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
  /** The id of the process that started it, or of the one that has adopted it. */
  readonly parent?: number;
  /** It has ended, and its parent has not noticed yet. */
  readonly isZombie?: boolean;
}

/** Returns the identity of a running process; `undefined` if it does not exist or cannot be read. */
export function getProcessIdentity(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is a name in parentheses that can contain anything; the parent is the fourth field, and the
    // start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state, parent] = fields;
    const started = fields[19];
    return started === undefined ? undefined : { pid, started, parent: Number(parent), isZombie: state === "Z" };
  } catch {
    return undefined; // the process or the /proc file system does not exist
  }
}
