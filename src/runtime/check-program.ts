import { readProgramSource } from "../frontend/index.ts";
import { gatekeep, type Host, type Verdict } from "../gatekeeper/index.ts";
import type { Catalog } from "../model/catalog.ts";
import type { Policy } from "../model/policy.ts";
import { setBounded } from "../shared/lru.ts";
import type { RunRequest } from "./execution/run-services.ts";

/** Bounds of the cache of verdicts: entries, and characters of each source. It takes some megabytes at most. */
const MAX_REMEMBERED = 200;
const MAX_REMEMBERED_CHARACTERS = 8_192;

/** The verdict of the front end and the gatekeeper on a program. */
export interface RunnableProgram extends Verdict {
  /** The program's JavaScript, every character at its place in the source; empty if there is no program. */
  readonly text: string;
}

export type CheckProgram = (
  source: string,
  request: Pick<RunRequest, "catalog" | "caller" | "whyUnavailable" | "limits">,
) => RunnableProgram;

/**
 * Reads and checks programs. A program that passed is not checked again while catalog, policy and permissions stay the same:
 * programs on a timer send the same program repeatedly.
 */
export function createProgramChecker(
  getPolicy: () => Policy,
  createHost: (request: Parameters<CheckProgram>[1]) => Host,
): CheckProgram {
  const verdicts = new Map<string, RunnableProgram>();
  return (source, request) => {
    const key = source.length <= MAX_REMEMBERED_CHARACTERS ? createKey(source, request, getPolicy()) : undefined;
    const before = key === undefined ? undefined : verdicts.get(key);
    const checked = before ?? checkProgram(source, request, createHost(request));
    if (key === undefined || checked.program === undefined) return checked;
    setBounded(verdicts, [key, checked], MAX_REMEMBERED);
    return checked;
  };
}

/** Returns everything that a verdict depends on. All but the source is JSON, so that no source can imitate it. */
function createKey(
  source: string,
  { catalog, caller, limits }: Parameters<CheckProgram>[1],
  { version }: Policy,
): string {
  const { id, permissions, scopes = [], roles = [], profile } = caller;
  return (
    JSON.stringify([getCatalogNumber(catalog), version, limits.sourceBytes, id, permissions, scopes, roles, profile]) +
    source
  );
}

/** Views of the same version differ by what the client of a caller answers. */
const catalogNumbers = new WeakMap<Catalog, number>();
let lastNumber = 0;

function getCatalogNumber(catalog: Catalog): number {
  const number = catalogNumbers.get(catalog) ?? ++lastNumber;
  catalogNumbers.set(catalog, number);
  return number;
}

function checkProgram(source: string, request: Parameters<CheckProgram>[1], host: Host): RunnableProgram {
  const program = readProgramSource(source, request.limits);
  return { ...gatekeep(program, host), text: program.kind === "program" ? program.text : "" };
}
