import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";
import { isDeepStrictEqual, parseEnv } from "node:util";

import { SkillgateError } from "../errors.ts";
import { isInside } from "./read-file.ts";
import { isRefusedVariable } from "./variables.ts";
import { changeFile } from "./write-atomic.ts";

/** A new value of a variable; `undefined` removes the variable. */
export interface EnvChange {
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * Changes variables of the `.env` of a folder, and keeps everything else: comments, order, line ends and other variables. A
 * missing file is created, for its owner only. Throws `CONFIG_INVALID`, without a value, for a link that leads out of the folder
 * and for what a `.env` cannot express.
 */
export async function editEnvFile(folder: string, changes: readonly EnvChange[]): Promise<void> {
  if (changes.length === 0) return;
  const path = join(folder, ".env");
  const target = await realpath(path).catch(() => path); // the file does not exist yet
  const root = await realpath(folder).catch(() => folder);
  if (target !== path && !isInside(relative(root, target)))
    throw createEnvError("it is a link to a file outside of the project", LINK_FIX);
  await changeFile(target, { label: LABEL, isPrivate: true }, (text) => {
    const changed = changes.reduce((current, { name, value }) => editEnv(current, name, value), text ?? "");
    const isMissing = text === undefined && changed === "";
    return isMissing ? undefined : changed;
  });
}

const LABEL = ".env";

const LINK_FIX = "Change that file yourself, or replace the link by a file";

/**
 * Returns the text of a `.env` with a changed variable. Of several assignments of one name the last one counts: it is changed,
 * and all of them are removed.
 */
export function editEnv(text: string, name: string, value: string | undefined): string {
  if (isRefusedVariable(name)) throw createEnvError(`${name} is refused, as it decides which code other programs run`);
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const content = text.slice(mark.length);
  const assignments = findAssignments(content).filter((each) => each.name === name);
  const changed =
    value === undefined ? removeAll(content, assignments) : put(content, assignments.at(-1), { name, value });
  requireSameMeaning(content, changed, { name, value });
  return mark + changed;
}

/** Where an assignment stands: offsets into the text. */
interface Assignment {
  readonly name: string;
  readonly start: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Behind the end of its last line. */
  readonly end: number;
}

function findAssignments(text: string): readonly Assignment[] {
  const found: Assignment[] = [];
  for (let start = 0; start < text.length;) {
    const assignment = readAssignment(text, start);
    if (assignment !== undefined) found.push(assignment);
    start = assignment?.end ?? findLineEnd(text, start);
  }
  return found;
}

function readAssignment(text: string, start: number): Assignment | undefined {
  ASSIGNMENT.lastIndex = start;
  const [head, name] = ASSIGNMENT.exec(text) ?? [];
  if (head === undefined || name === undefined) return undefined;
  const valueStart = start + head.length;
  const valueEnd = findValueEnd(text, valueStart);
  return { name, start, valueStart, valueEnd, end: findLineEnd(text, valueEnd) };
}

/** `export NAME = `, up to its value. */
const ASSIGNMENT = /[ \t]*(?:export[ \t]+)?([^\s#=][^\s=]*)[ \t]*=[ \t]*/y;

/** A quoted value may have several lines; another one ends before its comment. */
function findValueEnd(text: string, start: number): number {
  const quote = text[start];
  const closing = quote !== undefined && QUOTES.includes(quote) ? text.indexOf(quote, start + 1) : -1;
  if (closing !== -1) return closing + 1;
  const line = text.slice(start, findLineEnd(text, start));
  return start + (/^[^#\r\n]*?(?=\s*(?:[#\r\n]|$))/.exec(line)?.[0].length ?? 0);
}

/** Returns the offset behind the end of a line. */
function findLineEnd(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at + 1;
}

function put(text: string, last: Assignment | undefined, { name, value }: { name: string; value: string }): string {
  const quoted = quote(name, value);
  if (last !== undefined) return text.slice(0, last.valueStart) + quoted + text.slice(last.valueEnd);
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const isOpen = text !== "" && !text.endsWith("\n");
  return `${text}${isOpen ? lineEnd : ""}${name}=${quoted}${lineEnd}`;
}

function removeAll(text: string, assignments: readonly Assignment[]): string {
  return assignments.toReversed().reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), text);
}

/** Single quotes first: in them, other programs replace nothing. */
const QUOTES = ["'", '"', "`"];

function quote(name: string, value: string): string {
  if (/^[\w.:/+@%=,-]+$/.test(value)) return value;
  const mark = QUOTES.find((each) => !value.includes(each));
  if (mark === undefined) throw createEnvError(`the value of ${name} has all three kinds of quotes`);
  return mark + value + mark;
}

/** Throws if the changed text does not mean what was asked for, or changes another variable. */
function requireSameMeaning(before: string, after: string, { name, value }: EnvChange): void {
  const { [name]: _old, ...others } = parseEnv(before);
  const { [name]: found, ...rest } = parseEnv(after);
  if (found === value && isDeepStrictEqual({ ...others }, { ...rest })) return;
  throw createEnvError(`${name} cannot be changed in it to this value`);
}

function createEnvError(
  why: string,
  fix = "Change the file in an editor, or set the variable in the environment",
): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", `Cannot change ${LABEL}: ${why}`, { file: LABEL, fix });
}
