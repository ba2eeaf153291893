import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

import { configError, readConfigFile } from "../config/index.ts";
import { getMessage, SkillgateError } from "../errors.ts";
import type { Roles } from "../model/caller.ts";
import type { Problem } from "../model/provider.ts";
import { watchFile } from "../shared/watch-file.ts";
import { NO_ROLES, parseRoles } from "./roles.ts";
import { NO_ROWS, parsePolicy, type PolicyFile } from "./rows.ts";

/** The files of a policy. */
export interface PolicyFiles {
  /** Absolute path of `tools.yaml`; `roles.yaml` is beside it. */
  readonly tools: string;
  /** True if the file was named and must exist. */
  readonly isNamed?: boolean;
}

export interface PolicyFilesContent extends Pick<PolicyFile, "rows" | "flows" | "roles"> {
  /** All mistakes of both files; files with mistakes must not be used. */
  readonly problems: readonly Problem[];
  readonly exists: boolean;
  /** Says what to write in place of a file of earlier versions. */
  readonly notes: readonly Problem[];
}

/** Where the files of a project are, relative to it. */
export const POLICY_FILE = join("policies", "tools.yaml");

/** Reads both files. A missing file is an empty one, unless it was named. */
export async function readPolicyFiles({ tools, isNamed = false }: PolicyFiles): Promise<PolicyFilesContent> {
  const roles = getRolesFile(tools);
  const rows = await readAs(tools, parsePolicy, NO_ROWS);
  const missing: readonly Problem[] =
    isNamed && rows === NO_ROWS && !existsSync(tools)
      ? [{ source: formatLabel(tools), error: configError(formatLabel(tools), "it does not exist").message }]
      : [];
  const roleFile = await readAs(roles, parseRoles, NO_ROLES);
  return {
    rows: rows.rows,
    flows: rows.flows,
    roles: new Map([...roleFile.roles, ...rows.roles]),
    problems: [...missing, ...rows.problems, ...roleFile.problems],
    exists: rows !== NO_ROWS,
    notes: roleFile.roles.size === 0 ? [] : [createNote(roles, tools, { old: roleFile.roles, current: rows.roles })],
  };
}

/** Calls back after each change of the files, also if their folder appears later. Returns a function that stops it. */
export function watchPolicyFiles(
  { tools }: PolicyFiles,
  onChange: () => void,
  onFailure: (error: unknown) => void,
): () => void {
  const folder = dirname(tools);
  let stops: readonly (() => void)[] = [];
  const watchBoth = (): void => {
    stops = [tools, getRolesFile(tools)].map((file) => watchFile(file, onChange, onFailure));
  };
  if (existsSync(folder)) watchBoth();
  else {
    const stop = watchFile(
      folder,
      () => {
        if (!existsSync(folder)) return;
        stop();
        watchBoth();
        onChange();
      },
      onFailure,
    );
    stops = [stop];
  }
  return () => stops.forEach((stop) => stop());
}

/** Writes the roles that the policy does not have as its lines. */
function createNote(
  file: string,
  tools: string,
  { old, current }: { readonly old: Roles; readonly current: Roles },
): Problem {
  const source = formatLabel(file);
  const missing = [...old].filter(([role]) => !current.has(role));
  const lines = missing.map(([role, scopes]) => `\n  ${role}: ${JSON.stringify(scopes)}`);
  const how =
    missing.length === 0 ? "Delete it" : `Write in ${formatLabel(tools)}, and delete it:\nroles:${lines.join("")}`;
  return { source, error: `${source} is a file of earlier versions. ${how}` };
}

function getRolesFile(tools: string): string {
  return join(dirname(tools), "roles.yaml");
}

/** `policies/tools.yaml` */
function formatLabel(file: string): string {
  return `${basename(dirname(file))}/${basename(file)}`;
}

async function readAs<Content extends { readonly problems: readonly Problem[] }>(
  file: string,
  parse: (text: string, label: string) => Content,
  empty: Content,
): Promise<Content> {
  const label = formatLabel(file);
  try {
    const text = await readConfigFile(file, label);
    return text === undefined ? empty : parse(text, label);
  } catch (thrown) {
    if (!(thrown instanceof SkillgateError)) throw thrown;
    return { ...empty, problems: [{ source: label, error: getMessage(thrown) }] };
  }
}
