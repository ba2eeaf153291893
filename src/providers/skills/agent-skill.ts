import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
 * Lists the scripts in JavaScript and TypeScript that a `SKILL.md` names and that export functions, relative to its folder. Another
 * script would run when it is imported.
 */
export function listScripts(file: string): readonly string[] {
  const names =
    readFileSync(file, "utf8").match(/\bscripts\/(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:[cm]?js|ts)\b/g) ?? [];
  return [...new Set(names)].filter(
    (name) => !/\.(?:d|test|spec)\.[^.]+$/.test(name) && exportsFunctions(join(dirname(file), name)),
  );
}

function exportsFunctions(file: string): boolean {
  return existsSync(file) && /^export\s+(?:async\s+)?(?:function|class)\b/m.test(readFileSync(file, "utf8"));
}

/** Returns a text that neither ends a comment nor is a tag in it. */
function toComment(text: string): string {
  return text.replaceAll("*/", "* /").replaceAll("@", "at ").replace(/\s+/g, " ").trim();
}

/** JSON with two more escapes is a literal of JavaScript. */
function toLiteral(text: string): string {
  return JSON.stringify(text).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
