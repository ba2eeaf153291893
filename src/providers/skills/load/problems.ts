import { readFileSync } from "node:fs";
import { relative, sep } from "node:path";

import { getMessage, sentence, SkillgateError } from "../../../errors.ts";
import type { Failure } from "../process/messages.ts";
import { createSourceText } from "../../../shared/source-text.ts";
import type { ModuleError } from "../module-skills.ts";
import { describeMissingPackage, ModuleFailure, withoutPaths } from "../process/index.ts";
import { SourceError } from "../type-reader/syntax.ts";
import type { SkillModule } from "./discover.ts";

/** The module that a report is about. */
export interface Subject {
  readonly module: SkillModule;
  /** The skills folder. */
  readonly root: string;
  /** Path of its bundle, if it has one: reports replace it with the source. */
  readonly bundle: string | undefined;
}

/** Describes why a module could not be loaded, with the line if it is known. */
export function loadError(error: unknown, subject: Subject): ModuleError {
  if (!(error instanceof SourceError)) return { error: describeFailure(error, subject) };
  const { file, line, column, message } = error;
  const values = `${placeText({ file, line }, subject)}, column ${column}: ${tidy(message, subject)}`;
  const frame = readFrame(error);
  return { error: sentence("SKILL_INVALID", values), ...(frame !== undefined && { frame }) };
}

/** Returns the lines around a mistake; `undefined` if the file cannot be read any more. */
function readFrame({ file, line, column }: SourceError): string | undefined {
  try {
    const source = createSourceText(readFileSync(file, "utf8"));
    const start = source.offset({ line, column: column - 1 });
    return source.frame(start, start + 1);
  } catch {
    // The editor may be replacing the file at this moment.
    return undefined;
  }
}

function describeFailure(error: unknown, subject: Subject): string {
  if (error instanceof SkillgateError) return error.message;
  if (error instanceof ModuleFailure && error.failure !== undefined) {
    return thrownError("it failed at import", error.failure, subject);
  }
  return sentence("SKILL_INVALID", tidy(getMessage(error), subject));
}

/** Describes an error that a skill threw: `Cannot load the skill: it failed at import, line 4: no key (SKILL_INVALID)`. */
export function thrownError(what: string, { message, stack, code }: Failure, subject: Subject): string {
  if (code === "SKILL_INVALID") return tidy(message, subject);
  const missing = describeMissingPackage({ message, code });
  if (missing !== undefined) return sentence("SKILL_INVALID", `${what}: ${missing}`);
  const location = firstPlace(stack, subject.root);
  const where = location === undefined ? "" : `, ${placeText(location, subject)}`;
  return sentence("SKILL_INVALID", `${what}${where}: ${tidy(message, subject)}`);
}

function tidy(text: string, { module, root, bundle }: Subject): string {
  const relative =
    bundle === undefined ? text : text.replaceAll(`file://${bundle}`, module.source).replaceAll(bundle, module.source);
  return withoutPaths(relative.replaceAll(/(\.\w+)\?\d+/g, "$1"), root);
}

interface SourceLocation {
  readonly file: string;
  readonly line: number;
}

/** Returns the innermost stack line in the skills folder. */
function firstPlace(stack: string, root: string): SourceLocation | undefined {
  for (const line of stack.split("\n")) {
    const at = line.indexOf(`${root}${sep}`);
    const [, file, number] = (at < 0 ? null : /^([^:]*):(\d+)/.exec(line.slice(at))) ?? [];
    if (file !== undefined) return { file, line: Number(number) };
  }
  return undefined;
}

/** Returns `line 4` for the entry, `helpers.ts, line 4` for another file. */
function placeText({ file, line }: SourceLocation, { module, root }: Subject): string {
  return file === module.entry ? `line ${line}` : `${relative(root, file).split(sep).join("/")}, line ${line}`;
}
