import { basename, dirname, relative } from "node:path";

import { getMessage } from "../../errors.ts";
import { type Problem, describeHeld } from "../../model/provider.ts";
import type { ServerConfig } from "../../providers/mcp/index.ts";
import type { Path } from "../documents/index.ts";
import { lintServerEntry } from "./lint-entry.ts";
import { BadEntry } from "./entry-fields.ts";
import { canonicalPath, type ConfigFolders, isInside, type FileLocation } from "../read-file.ts";
import type { ConfigFile } from "../locations.ts";
import { type ConfigInput, inputVariable } from "./inputs.ts";
import { type FileContent, createProblem } from "./mcp-file.ts";
import { describeOtherFolder, isSelfEntry, startsElsewhere } from "./self-entry.ts";
import { getReadValues, inputsReadBy, variablesReadBy } from "../reads.ts";
import { listStartedFiles } from "./started-files.ts";
import { parseServer, type ServerEntry } from "./parse-entry.ts";
import { digestValue, type ProjectTrust, whyPartHeld } from "../trust/index.ts";
import type { ProjectVariables, Variables } from "../variables.ts";

/** The inputs from which servers are read. */
export interface ServerSources extends Pick<ProjectVariables, "ofProject" | "ofUser" | "names"> {
  /** In their order. */
  readonly contents: readonly ServerContent[];
  readonly folders: ConfigFolders;
  readonly mcpEnabled: boolean;
  readonly trust: ProjectTrust;
}

export type ServerContent = FileContent & { readonly file: ConfigFile };

/** A server as a file declares it, with the result of reading it. */
export interface DeclaredServer {
  readonly name: string;
  readonly file: ConfigFile;
  readonly entry: unknown;
  /** Where in the file, for an edit and for people. */
  readonly path: Path;
  readonly location: FileLocation;
  /** An earlier file declares a server of the same name. */
  readonly isOverruled: boolean;
  /** The resulting configuration; `undefined` if the entry is wrong. */
  readonly config: ServerConfig | undefined;
  /** Why it cannot be used, or is probably a mistake. */
  readonly problem: Problem | undefined;
  /** It is not started, as the project that declares it is not trusted; a file of the user's own needs no trust. */
  readonly isHeld: boolean;
  /** The files in its command, its arguments and `envFile`, by their real paths. */
  readonly started: readonly string[];
  /** Changes with everything that decides what is started, and what it is given. */
  readonly digest: string;
  readonly inputs: ReadonlyMap<string, ConfigInput>;
}

export interface ReadServers {
  readonly servers: readonly ServerConfig[];
  readonly declared: readonly DeclaredServer[];
  readonly warnings: readonly Problem[];
}

/** Makes servers of what files declare. `answers` are what a person has said to `${input:id}`. */
export function readServers(sources: ServerSources, answers: Variables = () => undefined): ReadServers {
  const names = new Set<unknown>();
  const declared: DeclaredServer[] = [];
  for (const content of inOrder(sources)) {
    for (const entry of content.entries) {
      const server = readServer(entry, content, { sources, answers, isOverruled: names.has(entry.name) });
      declared.push(server);
      // A bad entry does not overrule a good one of the same name.
      if (server.config !== undefined) names.add(entry.name);
    }
  }
  const inEffect = declared.filter(({ isOverruled }) => !isOverruled);
  return {
    servers: inEffect.flatMap(({ config }) => config ?? []),
    declared,
    warnings: inEffect.flatMap(({ problem }) => problem ?? []),
  };
}

/** Orders the files: servers of a file that is held come last, so that they do not replace the user's. */
function inOrder({ contents, trust }: ServerSources): readonly ServerContent[] {
  const isHeld = ({ file }: ServerContent): boolean =>
    file.scope === "project" && whyPartHeld(trust, file.label) !== undefined;
  return [...contents.filter((content) => !isHeld(content)), ...contents.filter(isHeld)];
}

/** Digests of the outside values that the servers of a project receive, except from its files; the values are not stored. */
export function digestValues(sources: Omit<ServerSources, "trust" | "mcpEnabled">): Map<string, string> {
  const ofProject = sources.contents.filter(({ file }) => file.scope === "project");
  const digests = ofProject.flatMap(({ entries, inputs }) =>
    entries.flatMap(({ name, entry }) => {
      const values = getReadValues(entry, {
        variables: sources.ofUser,
        inputs: (id) => inputValue(id, inputs, sources.ofUser),
        cwd: undefined,
      });
      return [...values].map(([value, is]) => [valuePart(value, String(name)), digestValue(is)] as const);
    }),
  );
  return new Map(digests);
}

/** `TOKEN of MCP server github` */
export function valuePart(value: string, server: string): string {
  return `${value} of MCP server ${server}`;
}

/** How a server that was written by hand is recorded. */
export function serverKey({ file, name }: Pick<DeclaredServer, "file" | "name">): string {
  return `${file.label}#${name}`;
}

interface ServerReadContext {
  readonly sources: ServerSources;
  readonly answers: Variables;
  readonly isOverruled: boolean;
}

function readServer(
  written: ServerEntry,
  { file, inputs }: ServerContent,
  { sources, answers, isOverruled }: ServerReadContext,
): DeclaredServer {
  const { entry, path } = written;
  const name = typeof written.name === "string" ? written.name : "";
  const { cwd } = sources.folders;
  const variables = variablesFor(file, sources);
  const getInput: Variables = (id) => inputValue(id, inputs, variables);
  const digest = digestValue([entry, [...getReadValues(entry, { variables, inputs: getInput, cwd })]]);
  const started = file.scope === "project" ? listStartedFiles(entry, { variables, inputs: getInput, cwd }) : [];
  const why = whyServerHeld({ name, file, entry, digest, started }, sources);
  const location = written.locate([]);
  const isHeld = why !== undefined;
  const declared = { name, file, entry, path, location, isOverruled, isHeld, started, digest, inputs };
  // A file that other clients also read may contain this server's own entry, for them.
  if (isSelfEntry(entry)) {
    const problem = startsElsewhere(entry, cwd)
      ? createProblem(file.label, location, describeOtherFolder(name))
      : undefined;
    return { ...declared, config: undefined, problem };
  }
  try {
    const config = parseServer(
      { name: written.name, entry, source: `${file.label}:${location.line}:${location.column}` },
      {
        cwd,
        variables,
        inputs: (id) => answers(id) ?? getInput(id),
        hasMilliseconds: isOfGemini(file),
        owner: isOfUser(file, sources) ? "user" : "project",
        objection: isHeld ? describeHeld(`MCP server '${name}'`, why) : undefined,
      },
    );
    const finding = lintServerEntry(name, config);
    return {
      ...declared,
      config: sources.mcpEnabled ? config : { ...config, enabled: false },
      problem: finding && {
        ...createProblem(file.label, written.locate([finding.key]), finding.error),
        fix: finding.fix,
      },
    };
  } catch (thrown) {
    const bad = thrown instanceof BadEntry ? thrown : undefined;
    const at = written.locate(bad?.key === undefined ? [] : [bad.key]);
    const problem = {
      ...createProblem(file.label, at, getMessage(thrown)),
      ...(bad?.fix !== undefined && { fix: bad.fix }),
    };
    return { ...declared, config: undefined, problem };
  }
}

/** Says why a server is not started; one that was trusted as it is needs no trust in the rest of its file. */
function whyServerHeld(
  { name, file, entry, digest, started }: Pick<DeclaredServer, "name" | "file" | "entry" | "digest" | "started">,
  { trust, names }: ServerSources,
): string | undefined {
  if (file.scope !== "project") return undefined;
  const whyOneHeld = (parts: readonly string[]): string | undefined =>
    parts.map((part) => whyPartHeld(trust, part)).find((why) => why !== undefined);
  const why = whyOneHeld(started.map((path) => trust.getPart(path)));
  if (why !== undefined) return why;
  if (trust.all === undefined && trust.record.servers.get(serverKey({ file, name })) === digest) return undefined;
  const reads = variablesReadBy(entry);
  const values = [...reads, ...inputsReadBy(entry).map((id) => `input ${id}`)].map((value) => valuePart(value, name));
  const variables = reads.some((variable) => names.includes(variable)) ? [".env"] : [];
  return whyOneHeld([file.label, ...values, ...variables]);
}

/** Whether a file is the user's own; one that was named is, unless it is one of a project that is trusted. */
function isOfUser({ scope, path }: ConfigFile, { trust, folders }: ServerSources): boolean {
  if (scope !== "named") return scope !== "project";
  const isKnown = trust.isGiven || trust.record.isWhole;
  return !isKnown || !isInside(relative(canonicalPath(folders.cwd), canonicalPath(path)));
}

/** The settings of Gemini CLI and of Qwen Code, which is made from it. */
function isOfGemini({ path }: ConfigFile): boolean {
  return /^\.(?:gemini|qwen)$/.test(basename(dirname(path)));
}

/** Returns the variables for the placeholders of a file: entries of the user never see the `.env` of a project. */
export function variablesFor(file: ConfigFile, sources: ServerSources): Variables {
  return isOfUser(file, sources) ? sources.ofUser : sources.ofProject;
}

/** Returns the value from the environment, else the default in the file. */
function inputValue(id: string, inputs: ReadonlyMap<string, ConfigInput>, variables: Variables): string | undefined {
  return variables(inputVariable(id)) ?? inputs.get(id)?.orElse;
}
