import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";

import { isRecord } from "../model/json.ts";
import { changeFile } from "./atomic.ts";
import { readConfigFile } from "./file.ts";
import type { ServerEntry } from "./server-entry.ts";
import { type Environment, placeholdersIn, readEnvFile, type Variables } from "./variables.ts";

/** Which servers of which files the user has allowed, each with the digest of what was allowed. */
export interface Approvals {
  stateOf(file: string, server: string, digest: string): "approved" | "changed" | "new";
}

/** Where approvals are kept: a file of the user's own, that no project can bring along. */
export function approvalsFile(env: Environment, home: string): string {
  const state = env["XDG_STATE_HOME"] ?? (process.platform === "win32" ? env["LOCALAPPDATA"] : undefined);
  return join(
    state === undefined || state === "" ? join(home, ".local", "state") : state,
    "skillgate",
    "approved-servers.json",
  );
}

/** A file that cannot be read approves of nothing. */
export async function readApprovals(path: string): Promise<Approvals> {
  const text = await readConfigFile(path, path).catch(() => undefined);
  const files = parseApprovals(text);
  return {
    stateOf(file, server, digest) {
      const known = files.get(file)?.get(server);
      if (known === undefined) return "new";
      return known === digest ? "approved" : "changed";
    },
  };
}

/** Remembers that servers of a file may be started as they are now. */
export async function approve(path: string, file: string, digests: ReadonlyMap<string, string>): Promise<void> {
  await changeFile(path, { label: path, isPrivate: true }, (text) => {
    const files = parseApprovals(text);
    files.set(file, new Map([...(files.get(file) ?? []), ...digests]));
    const written = [...files].map(([file, servers]) => [file, Object.fromEntries(servers)]);
    return `${JSON.stringify(Object.fromEntries(written), null, 2)}\n`;
  });
}

/** Changes with everything that decides what is started, or where headers are sent. */
export function approvalDigest({ entry }: Pick<ServerEntry, "entry">, fromProject: Variables, cwd: string): string {
  const texts = isRecord(entry)
    ? ["command", "args", "cwd", "url", "serverUrl", "httpUrl"].map((key) => JSON.stringify(entry[key] ?? ""))
    : [];
  const names = texts.flatMap(placeholdersIn).filter(({ kind }) => kind === "variable");
  const values = names.map(({ name }) => [name, fromProject(name)]);
  const file = isRecord(entry) && typeof entry["envFile"] === "string" ? entry["envFile"] : undefined;
  const fileOfVariables = file === undefined ? null : (readEnvFile(join(cwd, file)) ?? null);
  return createHash("sha256")
    .update(JSON.stringify([entry, values, fileOfVariables]))
    .digest("hex");
}

/** One name for a file, whatever way leads to it. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // it is not there
  }
}

function parseApprovals(text: string | undefined): Map<string, ReadonlyMap<string, string>> {
  const files = Object.entries(recordOf(text)).map(
    ([file, servers]) => [file, new Map(Object.entries(isRecord(servers) ? servers : {}).filter(isDigest))] as const,
  );
  return new Map(files);
}

function isDigest(pair: [string, unknown]): pair is [string, string] {
  return typeof pair[1] === "string";
}

function recordOf(text = "{}"): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // whoever broke it has to approve again
  }
}
