import { messageOf } from "../errors.ts";
import type { Problem } from "../model/provider.ts";
import type { ServerConfig } from "../providers/mcp/index.ts";
import { approvalDigest, approvalsFile, type Approvals, canonicalPath, readApprovals } from "./approvals.ts";
import type { Path } from "./document/index.ts";
import { doubtAbout } from "./doubts.ts";
import { BadEntry } from "./fields.ts";
import type { Folders, Place } from "./file.ts";
import type { ConfigFile } from "./files.ts";
import { type Input, inputVariable } from "./inputs.ts";
import { type FileContent, problemAt } from "./mcp-file.ts";
import { isSkillgate } from "./own-entry.ts";
import { parseServer, type ServerEntry } from "./server-entry.ts";
import type { Environment, ProjectVariables, Variables } from "./variables.ts";

/** All that servers are made from. */
export interface ServerSources extends ProjectVariables {
  /** In their order. */
  readonly contents: readonly (FileContent & { readonly file: ConfigFile })[];
  readonly folders: Folders;
  readonly env: Environment;
  readonly mcpEnabled: boolean;
  readonly startsNew: boolean;
}

/** A server as a file declares it, and what has become of it. */
export interface DeclaredServer {
  readonly name: string;
  readonly file: ConfigFile;
  readonly entry: unknown;
  /** Where in the file, for an edit and for people. */
  readonly path: Path;
  readonly place: Place;
  /** Another file has said it first. */
  readonly isOverruled: boolean;
  /** What it comes to; `undefined` if the entry is wrong. */
  readonly config: ServerConfig | undefined;
  /** Why it cannot be used, or may not be what was meant. */
  readonly problem: Problem | undefined;
  /** Whether the user has allowed that it is started; a file of the user's own needs no approval. */
  readonly approval: "approved" | "changed" | "new";
  readonly digest: string;
  readonly inputs: ReadonlyMap<string, Input>;
}

export interface ReadServers {
  readonly servers: readonly ServerConfig[];
  readonly declared: readonly DeclaredServer[];
  readonly warnings: readonly Problem[];
}

/** Makes servers of what files declare. `answers` are what a person has said to `${input:id}`. */
export async function readServers(sources: ServerSources, answers: Variables = () => undefined): Promise<ReadServers> {
  const approvals = await readApprovals(approvalsFile(sources.env, sources.folders.home));
  const seen = new Set<unknown>();
  const declared: DeclaredServer[] = [];
  for (const content of sources.contents) {
    for (const entry of content.entries) {
      const server = readServer(entry, content, { sources, answers, approvals, isOverruled: seen.has(entry.name) });
      declared.push(server);
      // A bad entry spoils no good one of the same name.
      if (server.config !== undefined) seen.add(entry.name);
    }
  }
  const inEffect = declared.filter(({ isOverruled }) => !isOverruled);
  return {
    servers: inEffect.flatMap(({ config }) => config ?? []),
    declared,
    warnings: inEffect.flatMap(({ problem }) => problem ?? []),
  };
}

interface Circumstances {
  readonly sources: ServerSources;
  readonly answers: Variables;
  readonly approvals: Approvals;
  readonly isOverruled: boolean;
}

function readServer(
  written: ServerEntry,
  { file, inputs }: FileContent & { readonly file: ConfigFile },
  { sources, answers, approvals, isOverruled }: Circumstances,
): DeclaredServer {
  const { entry, path } = written;
  const name = typeof written.name === "string" ? written.name : "";
  const digest = approvalDigest({ entry }, sources.fromFile, sources.folders.cwd);
  const approval = file.isTrusted ? "approved" : approvals.stateOf(canonicalPath(file.path), name, digest);
  const place = written.placeOf([]);
  const declared = { name, file, entry, path, place, isOverruled, approval, digest, inputs };
  // In a file that other clients read, too, it is meant for them.
  if (isSkillgate(entry)) return { ...declared, config: undefined, problem: undefined };
  try {
    const config = parseServer(
      { name: written.name, entry, source: `${file.label}:${place.line}:${place.column}` },
      {
        cwd: sources.folders.cwd,
        variables: sources.variables,
        inputs: (id) => inputValue(id, inputs, sources, answers),
        objection: approval === "new" && sources.startsNew ? undefined : objectionTo(name, file, approval),
      },
    );
    const doubt = doubtAbout(name, config.declared);
    return {
      ...declared,
      config: sources.mcpEnabled ? config : { ...config, enabled: false },
      problem: doubt && { ...problemAt(file.label, written.placeOf([doubt.key]), doubt.error), fix: doubt.fix },
    };
  } catch (thrown) {
    const bad = thrown instanceof BadEntry ? thrown : undefined;
    const at = written.placeOf(bad?.key === undefined ? [] : [bad.key]);
    const problem = {
      ...problemAt(file.label, at, messageOf(thrown)),
      ...(bad?.fix !== undefined && { fix: bad.fix }),
    };
    return { ...declared, config: undefined, problem };
  }
}

/** From a person, else from the environment, else what the file itself says. */
function inputValue(
  id: string,
  inputs: ReadonlyMap<string, Input>,
  { variables }: ServerSources,
  answers: Variables,
): string | undefined {
  return answers(id) ?? variables(inputVariable(id)) ?? inputs.get(id)?.orElse;
}

function objectionTo(name: string, { label }: ConfigFile, approval: DeclaredServer["approval"]): string | undefined {
  const word = /^[\w.@/-]+$/.test(name) ? name : JSON.stringify(name);
  const advice = `look at it in ${label}, and allow it with: skillgate mcp approve ${word}`;
  switch (approval) {
    case "approved":
      return undefined;
    case "new":
      return `MCP server '${name}' is not approved yet; ${advice}`;
    case "changed":
      return `MCP server '${name}' has changed since it was approved; ${advice}`;
  }
}
