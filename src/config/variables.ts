import { join } from "node:path";
import { parseEnv } from "node:util";

import type { Problem } from "../model/provider.ts";
import { messageOf } from "../errors.ts";
import { type Folders, readConfigFile } from "./file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a placeholder stands for; `undefined` if nothing has that name. */
export type Variables = (name: string) => string | undefined;

/**
 * `${VAR}`, `${VAR:-default}` and `${env:VAR}`; `${input:name}` is what an editor would ask a person for. The default has
 * a length, so that a text full of open placeholders is read in linear time.
 */
const PLACEHOLDER = /\$\{(env:|input:)?([A-Za-z_][\w-]{0,200})(?::-([^}]{0,1000}))?\}/g;

/** Variables of the environment, then of the project's `.env`, then the two names that editors know. */
export async function readVariables(
  env: Environment,
  folders: Folders,
): Promise<{ readonly variables: Variables; readonly warnings: readonly Problem[] }> {
  const editor = { workspaceFolder: folders.cwd, userHome: folders.home };
  try {
    const file = parseEnv((await readConfigFile(join(folders.cwd, ".env"), ".env")) ?? "");
    return { variables: lookUp([env, file, editor]), warnings: [] };
  } catch (thrown) {
    return { variables: lookUp([env, editor]), warnings: [{ source: ".env", error: messageOf(thrown) }] };
  }
}

/** Looks a name up in one source after the other; what a source inherits does not count. */
export function lookUp(sources: readonly Environment[]): Variables {
  return (name) => sources.find((source) => Object.hasOwn(source, name) && source[name] !== undefined)?.[name];
}

/**
 * Fills in the placeholders of a text, once: a value that looks like a placeholder stays as it is. Names that stand for
 * nothing and have no default are added to `missing`, and their placeholders stay.
 */
export function fillIn(text: string, variables: Variables, missing: Set<string>): string {
  return text.replaceAll(
    PLACEHOLDER,
    (placeholder: string, kind: string | undefined, name: string, orElse?: string) => {
      const value = kind === "input:" ? undefined : variables(name);
      // As in a shell, a default also stands in for an empty value.
      if (value !== undefined && (value !== "" || orElse === undefined)) return value;
      if (orElse !== undefined) return orElse;
      missing.add(kind === "input:" ? `input ${name}` : `environment variable ${name}`);
      return placeholder;
    },
  );
}
