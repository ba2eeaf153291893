import { statSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { parseEnv } from "node:util";

import type { Problem } from "../model/provider.ts";
import { getMessage } from "../errors.ts";
import { type ConfigFolders, readConfigFile } from "./read-file.ts";
import { readRegularFile } from "../shared/files/regular-file.ts";
import { withoutOwnSecrets } from "../shared/process/child-environment.ts";
import { inputVariable } from "./servers/inputs.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the value of a placeholder; `undefined` if the name is unknown. */
export type Variables = (name: string) => string | undefined;

/**
 * `${VAR}`, `${VAR:-default}` and `${env:VAR}`; `{env:VAR}`, as opencode has it; `${input:id}` is what a person is asked
 * for. Everything has a greatest length, so that a text full of open placeholders is read in linear time.
 */
const PLACEHOLDER =
  /\$\{input:([^{}]{1,200})\}|\$\{(?:env:)?([A-Za-z_][\w-]{0,200})(?::-([^}]{0,1000}))?\}|\{env:([A-Za-z_]\w{0,200})\}/g;

export interface ProjectVariables {
  /** For what the project itself declares: from the environment, then its `.env`, then the names that editors know. */
  readonly ofProject: Variables;
  /** For what the user declares: the same, without the `.env` of a project. */
  readonly ofUser: Variables;
  /** The names in the project's `.env` that count. */
  readonly names: readonly string[];
  readonly warnings: readonly Problem[];
}

export async function readVariables(environment: Environment, folders: ConfigFolders): Promise<ProjectVariables> {
  const editor = {
    workspaceFolder: folders.cwd,
    workspaceFolderBasename: basename(folders.cwd),
    userHome: folders.home,
    pathSeparator: sep,
  };
  // They give access to everything that its server serves, and to the credentials of accounts.
  const env = withoutOwnSecrets(environment);
  const { file, warnings } = await readEnvironmentFile(folders);
  return {
    ofProject: lookUp([env, file, editor]),
    ofUser: lookUp([env, editor]),
    names: Object.keys(file),
    warnings,
  };
}

async function readEnvironmentFile(
  folders: ConfigFolders,
): Promise<{ readonly file: Environment; readonly warnings: readonly Problem[] }> {
  try {
    const written = parseEnv((await readConfigFile(join(folders.cwd, ".env"), ".env")) ?? "");
    const refused = Object.keys(written).filter(isRefusedVariable);
    return { file: withoutRefused(written), warnings: refused.map(refusal) };
  } catch (thrown) {
    return { file: {}, warnings: [{ source: ".env", error: getMessage(thrown) }] };
  }
}

/** Variables that decide which code programs load, and where they look for their own configuration. */
const REFUSED_NAME =
  /^(?:PATH|PATHEXT|COMSPEC|HOME|USERPROFILE|BASH_ENV|SHELL|NODE_OPTIONS|NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|(?:LD|DYLD|npm_config|SKILLGATE|XDG)_.*|PYTHON(?:STARTUP|PATH|HOME)|PERL5(?:LIB|OPT)|RUBY(?:LIB|OPT)|(?:_|JDK_)?JAVA(?:_TOOL)?_OPTIONS|GIT_(?:SSH|SSH_COMMAND|EXEC_PATH|CONFIG.*))$/i;

/** The variables of a project's file that may count. */
export function withoutRefused<Value>(variables: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(variables).filter(([name]) => !isRefusedVariable(name)));
}

/** True for a variable that a project's file may not set. */
export function isRefusedVariable(name: string): boolean {
  return REFUSED_NAME.test(name);
}

function refusal(name: string): Problem {
  return {
    source: ".env",
    error: `.env: ${name} is refused, as it decides which code other programs run`,
    fix: `Set ${name} in your own environment, or in "env" of the server that needs it`,
  };
}

/** Looks a name up in one source after the other; what a source inherits does not count. */
export function lookUp(sources: readonly Environment[]): Variables {
  return (name) => sources.find((source) => Object.hasOwn(source, name) && source[name] !== undefined)?.[name];
}

/**
 * Fills in the placeholders of a text, once: a value that looks like a placeholder stays as it is. What stands for
 * nothing and has no default is added to `missing`, in words, and its placeholder stays.
 */
export function fillIn(
  text: string,
  variables: Variables,
  missing: Set<string>,
  inputs: Variables = () => undefined,
): string {
  return replacePlaceholders(
    text,
    ({ kind, name }) => (kind === "input" ? inputs(name) : variables(name)),
    (missingPlaceholder) => missing.add(missingVariableError(missingPlaceholder)),
  );
}

function missingVariableError({ kind, name }: Placeholder): string {
  return kind === "input"
    ? `input ${name} (set the environment variable ${inputVariable(name)})`
    : `environment variable ${name}`;
}

/** The variable or input that a placeholder names. */
interface Placeholder {
  readonly kind: "variable" | "input";
  readonly name: string;
}

function replacePlaceholders(
  text: string,
  valueOf: (target: Placeholder) => string | undefined,
  onMissing: (target: Placeholder) => void,
): string {
  return text.replaceAll(
    PLACEHOLDER,
    (placeholder: string, input?: string, name?: string, orElse?: string, openCode?: string) => {
      const target: Placeholder =
        input === undefined ? { kind: "variable", name: name ?? openCode ?? "" } : { kind: "input", name: input };
      const value = valueOf(target);
      // As in a shell, a default also stands in for an empty value.
      if (value !== undefined && (value !== "" || orElse === undefined)) return value;
      if (orElse !== undefined) return orElse;
      onMissing(target);
      return placeholder;
    },
  );
}

/** The placeholders of a text, one after the other. */
export function placeholdersIn(text: string): readonly Placeholder[] {
  const found: Placeholder[] = [];
  const add = (target: Placeholder): undefined => void found.push(target);
  // Those with a default are never missing.
  replacePlaceholders(text, add, () => {});
  return found;
}

/** Maximum size of a file of variables. */
const ENV_FILE_BYTES = 256 << 10;

/** The variables of a file that an entry names; `undefined` if it cannot be read. */
export function readEnvFile(path: string): Readonly<Record<string, string>> | undefined {
  try {
    if (statSync(path).size > ENV_FILE_BYTES) return undefined;
    return parseEnv(readRegularFile(path).toString("utf8")) as Record<string, string>; // each name has a value
  } catch {
    return undefined; // the caller reports which file is missing
  }
}
