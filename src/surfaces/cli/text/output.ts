import { sep } from "node:path";

import { type ErrorCode, ERRORS, getMessage } from "../../../errors.ts";
import type { Skill } from "../../../model/catalog.ts";
import { UNKNOWN } from "../../../model/plan.ts";
import type { Problem } from "../../../model/provider.ts";
import type { LogLevel, SavedFacts } from "../../../model/skill.ts";
import { findSkillError } from "../../../shared/errors/skill-error.ts";
import { type Exit, EXIT_CODES } from "../exit-codes.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, DESCRIPTION_UNITS, escaped, indented, lines, shortened, table } from "./layout.ts";

/** One line of `doctor`. */
export interface DoctorCheck {
  readonly kind:
    | "node"
    | "engine"
    | "typescript"
    | "configuration"
    | "skills"
    | "store"
    | "model"
    | "server"
    | "api"
    | "account"
    | "automation"
    | "device"
    | "executors"
    | "telemetry";
  readonly subject: string;
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  /** Further lines, shown below this one. */
  readonly details: string;
}

/**
 * The JSON of a result: bytes as base64 in `$bytes`, a BigInt as text, and `$unknown` for a value that is known only
 * at run time.
 */
export function jsonText(value: unknown, indent: number): string {
  const replace = function (this: Record<string, unknown>, key: string, current: unknown): unknown {
    const original = this[key]; // `current` is already the result of `Buffer.toJSON`
    if (original instanceof Uint8Array) return { $bytes: Buffer.from(original).toString("base64") };
    if (original instanceof Map) return Object.fromEntries(original);
    if (original instanceof Set) return [...original];
    if (original === UNKNOWN) return { $unknown: true };
    return typeof current === "bigint" ? current.toString() : current;
  };
  const json: string | undefined = JSON.stringify(value, replace, indent);
  return json ?? "null";
}

/** Formats text as it is and any other value as JSON; "(no output)" without a value and output. */
export function valueText(value: unknown, output = ""): string {
  if (value === undefined) return output === "" ? "(no output)" : output;
  const isDate = value instanceof Date && !Number.isNaN(value.getTime());
  const text = typeof value === "string" ? value : isDate ? value.toISOString() : jsonText(value, 2);
  return output === "" || output.endsWith("\n") ? output + text : `${output}\n${text}`;
}

/** The error, its source frame, and the hint. */
export function errorText(
  error: { readonly message: string; readonly frame?: string; readonly hint: string },
  paint: Paint,
): string {
  const { message, frame = "", hint } = error;
  return lines([paint.red(message), frame, hint === "" ? "" : paint.dim(hint)]);
}

/** The message with its paths, which are hidden from models only: the person at a terminal owns the machine. */
export function showPaths(message: string, cause: unknown): string {
  return cause instanceof Error && message.includes("[path]") ? getMessage(cause) : message;
}

/** `Interrupted`, or the signal that ended the command. */
export function interruptionText(exit: Exit, paint: Paint): string {
  if (exit === "interrupted") return paint.red("Interrupted");
  if (exit === "terminated") return paint.red("Terminated");
  const { says } = EXIT_CODES[exit];
  return paint.red(`${says.charAt(0).toUpperCase()}${says.slice(1)}`);
}

/** The stack of the error that a skill threw, with paths relative to the current folder; empty for any other error. */
export function skillStackText(error: unknown, paint: Paint): string {
  const stack = findSkillError(error)?.stack ?? "";
  if (stack === "") return "";
  const [head = "", ...frames] = stack.replaceAll(`${process.cwd()}${sep}`, "").split("\n");
  return lines([`Thrown by the skill: ${head}`, ...frames].map((line) => paint.dim(line)));
}

/** One line for each problem, with its fix below. */
export function warningsText(problems: readonly Problem[], paint: Paint): string {
  return lines(
    problems.flatMap((problem) => [
      paint.yellow(`Warning: ${shortenedProblem(problem)}`),
      indented(problem.frame ?? ""),
      problem.fix === undefined ? "" : paint.dim(indented(problem.fix)),
    ]),
  );
}

export function shortenedProblem(problem: Problem): string {
  return shortened(problemText(problem), WARNING_UNITS);
}

const WARNING_UNITS = 300;

/** Prefixes the source (`mcp.json: …`), unless the error names it. */
export function problemText({ source, error }: Problem): string {
  return error.includes(source) ? error : `${source}: ${error}`;
}

/** Formats a log message of a skill or a server as one line. */
export function logLine(
  { level, text, path }: { readonly level: LogLevel; readonly text: string; readonly path: string | undefined },
  paint: Paint,
): string {
  const who = path === undefined ? "" : `${path}: `;
  // An error of a skill has its stack below its message.
  const [first = "", ...frames] = level === "error" ? text.split("\n", MAX_LOG_LINES) : [text];
  const rows = [`${level} ${who}${escaped(shortened(first, LOG_UNITS))}`];
  for (const frame of frames) rows.push(indented(escaped(shortened(frame.trim(), LOG_UNITS))));
  return `${paint.dim(rows.join("\n"))}\n`;
}

const MAX_LOG_LINES = 20;

const LOG_UNITS = 1_000;

export function skillsText(skills: readonly Skill[], paint: Paint): string {
  if (skills.length === 0) return "No skills found";
  const rows = skills.map(({ name, source, methods, description, provided }) => [
    paint.cyan(name),
    source,
    count(methods.length, "method"),
    `${formatPasses(provided.saved)}${paint.dim(shortened(description, DESCRIPTION_UNITS))}`,
  ]);
  return lines(table(rows));
}

/** How often a skill that is marked as saved has passed; empty for any other. */
function formatPasses(saved: SavedFacts | undefined): string {
  if (saved === undefined || saved.getPasses() >= saved.requiredPasses) return "";
  return `passed ${saved.getPasses()} of ${saved.requiredPasses} times  `;
}

export function checksText(checks: readonly DoctorCheck[], paint: Paint): string {
  const marks = { ok: paint.green("✓"), warning: paint.yellow("!"), error: paint.red("✗") };
  return lines(
    checks.flatMap(({ subject, status, says, details }) => [`${marks[status]} ${subject}: ${says}`, indented(details)]),
  );
}

/** Fixes for the person at the command line, where the table of errors advises a model. An empty one says nothing more. */
const OWNER_FIXES: Partial<Record<ErrorCode, string>> = {
  CALL_FAILED: "",
  CANCELLED: "",
  POLICY_DENIED: "See which rule denies it with: skillgate policy explain <Skill.method>",
  APPROVAL_MISSING: "Approve it at a terminal, or with --yes",
  SKILL_DISABLED: "Enable it with: skillgate skills enable <Skill>, or skillgate mcp enable <server>",
  SKILL_HELD: "Look at what has changed, and allow it with: skillgate trust",
  SECRET_MISSING: "Set the variable that the message names, in the environment or in .env",
  ACCOUNT_MISSING: "",
  ACCOUNT_RECONNECT: "",
  ACCOUNT_UNAVAILABLE: "",
  ACCOUNT_SCOPES: "Connect the account again with the scopes in the message",
  RECORD_FAILED: "See what is wrong with the store with: skillgate store info; nothing was called",
};

/** Returns the fix of an error as a person needs it. */
export function getOwnerFix(code: ErrorCode): string {
  return OWNER_FIXES[code] ?? ERRORS[code].fix;
}
