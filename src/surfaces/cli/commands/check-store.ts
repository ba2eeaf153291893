import { existsSync, statSync } from "node:fs";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";

import { getMessage, SkillgateError } from "../../../errors.ts";
import { type Database, hasEnded, type StoreLocation } from "../../../store/index.ts";
import { count } from "../text/layout.ts";
import { type DoctorCheck, getOwnerFix } from "../text/output.ts";

/** Opens the store and looks for runs that stand still. Creates no store, and leaves a damaged file where it is. */
export async function checkStore(location: StoreLocation): Promise<readonly DoctorCheck[]> {
  const { hasDatabase, openDatabase, whyNotKept } = await import("../../../store/index.ts");
  const why = await whyNotKept(location);
  if (why !== undefined) return [createCheck("warning", why)];
  if (!(await hasDatabase(location))) return [await checkPlace(location)];
  const warnings: string[] = [];
  try {
    await using database = await openDatabase(location, { repairs: false, warn: (text) => warnings.push(text) });
    const [warning] = warnings;
    if (warning !== undefined) return [createCheck("warning", warning)];
    const info = await database.info();
    return [createCheck("ok", `${info.place}, ${Math.ceil(info.bytes / 1024)} KB`), ...(await checkRuns(database))];
  } catch (thrown) {
    const fix = thrown instanceof SkillgateError ? getOwnerFix(thrown.code) : "";
    return [createCheck("error", getMessage(thrown), fix)];
  }
}

/** Checks whether a store can be created. */
async function checkPlace({ folder = process.cwd() }: StoreLocation): Promise<DoctorCheck> {
  let nearest = folder;
  while (!existsSync(nearest)) nearest = dirname(nearest);
  const isFolder = statSync(nearest).isDirectory();
  const canWrite = await access(nearest, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isFolder && canWrite) return createCheck("ok", "none yet; it is created when it is first needed");
  const why = isFolder ? "is not writable" : "is not a folder";
  return createCheck("error", `cannot be created in ${folder}: ${nearest} ${why}`, getOwnerFix("STORE_UNAVAILABLE"));
}

/** Milliseconds after which a server would have continued a run. */
const CONTINUED_MS = 60_000;
/** Limit on the runs that are checked, and on those that are named. */
const MAX_RUNS = 1_000;
const MAX_NAMES = 5;

/**
 * A run stands still if no process executes it, and no person has to answer. A process of another machine counts as living: only
 * a server that watches its counter knows.
 */
async function checkRuns({ runs, approvals }: Database): Promise<readonly DoctorCheck[]> {
  const before = { lt: Date.now() - CONTINUED_MS };
  const open = await runs.list({ state: { in: ["running", "waiting"] }, updated: before }, { limit: MAX_RUNS });
  const stopped = open.filter(({ claimedBy }) => claimedBy === null || hasEnded(claimedBy));
  const waiting = new Set((await approvals.list("pending")).map(({ runId }) => runId));
  const ids = stopped.flatMap(({ id, state }) => (state === "waiting" && waiting.has(id) ? [] : [id]));
  if (ids.length === 0) return [];
  const names = `${ids.slice(0, MAX_NAMES).join(", ")}${ids.length > MAX_NAMES ? ", …" : ""}`;
  const fix = "skillgate serve continues them; end one with: skillgate runs cancel ID";
  return [createCheck("warning", `${count(ids.length, "run")} without a process that executes them: ${names}`, fix)];
}

function createCheck(status: DoctorCheck["status"], says: string, details = ""): DoctorCheck {
  return { kind: "store", subject: "Store", status, says, details };
}
