import type { Skill } from "../../../model/catalog.ts";
import { UNKNOWN } from "../../../model/plan.ts";
import type { Problem } from "../../../model/provider.ts";
import type { LogLevel, RuntimeOptions } from "../../../runtime/options.ts";
import { countSpaces } from "../../../shared/visible-text.ts";
import { count, DESCRIPTION_UNITS, escaped, indented, lines, shortened, table } from "./layout.ts";
import type { Paint } from "../terminal/terminal.ts";

type ApprovalRequest = Parameters<NonNullable<RuntimeOptions["approve"]>>[0];

/** One line of `doctor`. */
export interface DoctorCheck {
  readonly kind: "node" | "engine" | "configuration" | "skills" | "server";
  readonly subject: string;
  readonly status: "ok" | "warning" | "error";
  readonly says: string;
  /** Shown below it. */
  readonly details: string;
}

/**
 * JSON of whatever came out of a run or a call: bytes as base64 in `$bytes`, a BigInt as text, and `$unknown` for what
 * only a run can tell.
 */
export function jsonText(value: unknown, indent: number): string {
  const replace = function (this: Record<string, unknown>, key: string, current: unknown): unknown {
    const original = this[key]; // a Buffer has made itself an object by now
    if (original instanceof Uint8Array) return { $bytes: Buffer.from(original).toString("base64") };
    if (original instanceof Map) return Object.fromEntries(original);
    if (original instanceof Set) return [...original];
    if (original === UNKNOWN) return { $unknown: true };
    return typeof current === "bigint" ? current.toString() : current;
  };
  const json: string | undefined = JSON.stringify(value, replace, indent);
  return json ?? "null";
}

/** Text as it is, anything else as JSON; says so if there is neither output nor value. */
export function valueText(value: unknown, output = ""): string {
  if (value === undefined) return output === "" ? "(no output)" : output;
  const text = typeof value === "string" ? value : value instanceof Date ? value.toISOString() : jsonText(value, 2);
  return output === "" || output.endsWith("\n") ? output + text : `${output}\n${text}`;
}

/** What is wrong, where, and what to do about it. */
export function errorText(
  error: { readonly message: string; readonly frame?: string; readonly hint: string },
  paint: Paint,
): string {
  const { message, frame = "", hint } = error;
  return lines([paint.red(message), frame, hint === "" ? "" : paint.dim(hint)]);
}

/** One line each: what could not be used, and why. */
export function warningsText(problems: readonly Problem[], paint: Paint): string {
  return lines(
    problems.flatMap((problem) => [
      paint.yellow(`Warning: ${shortenedProblem(problem)}`),
      problem.fix === undefined ? "" : paint.dim(indented(problem.fix)),
    ]),
  );
}

export function shortenedProblem(problem: Problem): string {
  return shortened(problemText(problem), WARNING_UNITS);
}

const WARNING_UNITS = 300;

/** `mcp.json: …`; many errors name their source themselves. */
export function problemText({ source, error }: Problem): string {
  return error.includes(source) ? error : `${source}: ${error}`;
}

/** What a skill or a server has to say, as one line. */
export function logLine(
  { level, text, path }: { readonly level: LogLevel; readonly text: string; readonly path: string | undefined },
  paint: Paint,
): string {
  const who = path === undefined ? "" : `${path}: `;
  return `${paint.dim(`${level} ${who}${escaped(shortened(text, LOG_UNITS))}`)}\n`;
}

const LOG_UNITS = 1_000;

export function skillsText(skills: readonly Skill[], paint: Paint): string {
  if (skills.length === 0) return "No skills found";
  const rows = skills.map(({ name, source, methods, description }) => [
    paint.cyan(name),
    source,
    count(methods.length, "method"),
    paint.dim(shortened(description, DESCRIPTION_UNITS)),
  ]);
  return lines(table(rows));
}

export function checksText(checks: readonly DoctorCheck[], paint: Paint): string {
  const marks = { ok: paint.green("✓"), warning: paint.yellow("!"), error: paint.red("✗") };
  return lines(
    checks.flatMap(({ subject, status, says, details }) => [`${marks[status]} ${subject}: ${says}`, indented(details)]),
  );
}

/** Shows exactly what would be called; nothing in it can pretend to be something else. */
export function approvalQuestion({ caller, path, input }: ApprovalRequest): string {
  const visible = jsonText(input, 2)
    .split("\n")
    .map((line) => countSpaces(escaped(line)));
  return `${escaped(JSON.stringify(caller.id))} asks to call ${path} with\n${visible.join("\n")}\nAllow this call? [y/N] `;
}
