import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

import { parseGuidance } from "./load/guidance.ts";

/** True for the entry of a folder in the open Agent Skills format: instructions, with or without scripts. */
export function isAgentSkill(file: string): boolean {
  return basename(file) === "SKILL.md";
}

/** Returns a module with the instructions of a `SKILL.md` as its method. */
export function createAgentModule(text: string): string {
  const guidance = parseGuidance(text);
  const about = toComment(guidance.description);
  return `/** @file ${about} */
/** Read the instructions of this skill before you use it. ${about} @returns {string} The instructions, as Markdown @readonly */
export function instructions() { return ${toLiteral(guidance.text)}; }`;
}

/**
 * Lists the scripts in JavaScript and TypeScript that a `SKILL.md` names and that export functions, by their real paths. Another
 * script would run when it is imported. Links that leave the folder of the skill are not followed.
 */
export function listScripts(file: string): readonly string[] {
  const folder = dirname(file);
  const words = readFileSync(file, "utf8")
    .slice(0, MAX_READ_UNITS)
    .split(/[^\w./-]+/);
  const names = new Set(words.filter((word) => word.length <= MAX_NAME_UNITS && SCRIPT.test(word)));
  return [...names].slice(0, MAX_SCRIPTS).flatMap((name) => {
    const script = findFile(join(folder, name), folder);
    return script !== undefined && EXPORT.test(readFileSync(script, "utf8")) ? script : [];
  });
}

const MAX_READ_UNITS = 65_536;
const MAX_NAME_UNITS = 200;
const MAX_SCRIPTS = 50;
const MAX_SCRIPT_BYTES = 2 << 20;

const SCRIPT = /^scripts\/[\w./-]+\.(?:[cm]?js|ts)$/;
const EXPORT = /^export\s+(?:async\s+)?(?:function|class)\b/m;

/** Returns the real path of a file that is in a folder; `undefined` for all else, as a device never ends. */
function findFile(path: string, folder: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const real = realpathSync(path);
  const facts = statSync(real);
  return real.startsWith(folder + sep) && facts.isFile() && facts.size <= MAX_SCRIPT_BYTES ? real : undefined;
}

/** Returns a text that neither ends a comment nor is a tag in it. */
function toComment(text: string): string {
  return text.replaceAll("*/", "* /").replaceAll("@", "at ").replace(/\s+/g, " ").trim();
}

/** JSON with two more escapes is a literal of JavaScript. */
function toLiteral(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
