import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";

import type { Skill } from "../../model/catalog.ts";
import type { CallRecord, Outcome, Usage, Violation } from "../../model/outcome.ts";
import { type CallSite, type Plan, UNKNOWN } from "../../model/plan.ts";
import type { Problem } from "../../model/provider.ts";
import type { LogLevel, RuntimeOptions } from "../../options.ts";
import type { Runtime } from "../../runtime.ts";
import type { Paint } from "./terminal.ts";

type ServerStatus = Runtime["servers"][number];
type ApprovalRequest = Parameters<NonNullable<RuntimeOptions["approve"]>>[0];

/** One line of `doctor`. */
export interface Check {
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
  const text = typeof value === "string" ? value : jsonText(value, 2);
  return output === "" || output.endsWith("\n") ? output + text : `${output}\n${text}`;
}

/** What a run printed, and its result. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case "completed":
      return valueText(outcome.value, outcome.output);
    case "refused":
      return "";
    case "failed":
      return outcome.output;
  }
}

/** What there is to say of a run besides. */
export function outcomeRemarks(outcome: Outcome, paint: Paint): string {
  switch (outcome.kind) {
    case "completed":
      return noteLines(outcome.notes, paint);
    case "refused":
      return outcome.text;
    case "failed": {
      const { message, line, column, frame, hint } = outcome.error;
      const place = line === 0 ? "" : ` (line ${line}, column ${column + 1})`;
      return errorText({ message: message + place, frame, hint }, paint);
    }
  }
}

/** What is wrong, where, and what to do about it. */
export function errorText(
  error: { readonly message: string; readonly frame?: string; readonly hint: string },
  paint: Paint,
): string {
  const { message, frame = "", hint } = error;
  return lines([paint.red(message), frame, hint === "" ? "" : paint.dim(hint)]);
}

/** Every call of a run, and what the run used. */
export function traceText(outcome: Outcome, paint: Paint): string {
  if (outcome.kind === "refused") return paint.dim("0 calls");
  const rows = outcome.calls.map((call) => [
    `${call.skill}.${call.method}`,
    outcomeMark(call, paint),
    milliseconds(call.durationMs),
  ]);
  return lines([...table(rows), paint.dim(usageText(outcome.usage))]);
}

function outcomeMark({ outcome }: CallRecord, paint: Paint): string {
  return outcome === "ok" ? paint.green(outcome) : paint.red(outcome);
}

function usageText({ calls, wallMs, cpuMs, memoryBytes }: Usage): string {
  return `${count(calls, "call")}, ${milliseconds(wallMs)} in all, ${milliseconds(cpuMs)} of them in the sandbox, ${(memoryBytes / (1 << 20)).toFixed(1)} MiB`;
}

/** All that is wrong with a snippet. */
export function violationsText(violations: readonly Violation[], paint: Paint): string {
  return violations.map(({ message, frame, fix }) => errorText({ message, frame, hint: fix }, paint)).join("\n\n");
}

/** What a snippet will call. */
export function planText(plan: Plan): string {
  if (plan.length === 0) return "The snippet may run; it calls nothing";
  return lines([
    "The snippet may run; it calls",
    ...table(plan.map((site) => [`  line ${site.line}`, site.path, circumstances(site)])),
  ]);
}

function circumstances({ dynamic, inLoop, conditional, parallel }: CallSite): string {
  const told = [dynamic && "handed on", inLoop && "in a loop", conditional && "perhaps", parallel && "in parallel"];
  return told.filter(Boolean).join(", ");
}

export function noteLines(notes: readonly string[], paint: Paint): string {
  return lines(notes.map((note) => paint.dim(`Note: ${note}`)));
}

/** For whoever has used the skills that ship, and would wonder where they are once there are others. */
export function takenOverNote(shipped: string, paint: Paint): string {
  const note = `The skills in ${shipped} were in use here as long as there were no others; copy what you want to keep`;
  return noteLines([note], paint);
}

/** One line each: what could not be used, and why. */
export function warningsText(problems: readonly Problem[], paint: Paint): string {
  return lines(
    problems.flatMap((problem) => [
      paint.yellow(`Warning: ${shortened(problemText(problem), WARNING_UNITS)}`),
      problem.fix === undefined ? "" : paint.dim(indented(problem.fix)),
    ]),
  );
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

export function serversText(servers: readonly ServerStatus[], paint: Paint): string {
  if (servers.length === 0) return "No MCP servers are configured";
  const rows = servers.map(({ name, skill, transport, status, toolCount, error }) => [
    `${serverMark(status, paint)} ${name}`,
    skill,
    transport,
    status,
    status === "connected" ? count(toolCount, "tool") : shortened(error ?? "", ERROR_UNITS),
  ]);
  return lines(table(rows));
}

const ERROR_UNITS = 160;

/** A server with all its tools, or with all that is known of its failure. */
export function serverText(server: ServerStatus, paint: Paint): string {
  const { name, skill, status, error, protocolVersion, toolCount, tools, quarantined, stderrTail } = server;
  const speaks = protocolVersion === undefined ? "" : `, protocol ${protocolVersion}`;
  return lines([
    `${serverMark(status, paint)} ${name}: ${status === "connected" ? `connected as ${skill}, ${count(toolCount, "tool")}${speaks}` : status}`,
    indented(error ?? ""),
    ...tools.map(({ name, method }) => `  ${skill}.${method}${name === method ? "" : paint.dim(` (${name})`)}`),
    ...quarantined.map(({ tool, reason }) => paint.yellow(`  "${tool}" is left out: ${reason}`)),
    status === "connected" ? "" : indented(stderrTail),
  ]);
}

/** A server with its tools, and what each of them is for. */
export function toolsText(
  server: {
    readonly name: string;
    readonly skill: string;
    readonly status: ServerStatus["status"];
    readonly error?: string;
    readonly tools: readonly { readonly tool: string; readonly path: string; readonly description: string }[];
    readonly quarantined: ServerStatus["quarantined"];
  },
  paint: Paint,
): string {
  const { name, skill, status, error, tools, quarantined } = server;
  const state = status === "connected" ? count(tools.length, "tool") : status;
  return lines([
    `${serverMark(status, paint)} ${name} (${skill}): ${state}`,
    indented(error ?? ""),
    ...table(tools.map(({ path, description }) => [`  ${path}`, paint.dim(shortened(description, DESCRIPTION_UNITS))])),
    ...quarantined.map(({ tool, reason }) => paint.yellow(`  "${tool}" is left out: ${reason}`)),
  ]);
}

function serverMark(status: ServerStatus["status"], paint: Paint): string {
  switch (status) {
    case "connected":
      return paint.green("✓");
    case "connecting":
    case "disabled":
      return paint.dim("–");
    case "disconnected":
    case "error":
      return paint.red("✗");
  }
}

export function skillsText(skills: readonly Skill[], paint: Paint): string {
  if (skills.length === 0) return "There are no skills";
  const rows = skills.map(({ name, source, methods, description }) => [
    paint.cyan(name),
    source,
    count(methods.length, "method"),
    paint.dim(shortened(description, DESCRIPTION_UNITS)),
  ]);
  return lines(table(rows));
}

const DESCRIPTION_UNITS = 80;

export function checksText(checks: readonly Check[], paint: Paint): string {
  const marks = { ok: paint.green("✓"), warning: paint.yellow("!"), error: paint.red("✗") };
  return lines(
    checks.flatMap(({ subject, status, says, details }) => [`${marks[status]} ${subject}: ${says}`, indented(details)]),
  );
}

/** Shows exactly what would be called; nothing in it can pretend to be something else. */
export function approvalQuestion({ caller, path, input }: ApprovalRequest): string {
  const visible = jsonText(input, 2).split("\n").map(escaped).join("\n");
  return `${JSON.stringify(caller.id)} asks to call ${path} with\n${visible}\nAllow this call? [y/N] `;
}

/** Without anything that a terminal obeys: `\u001b[2J`, `\u202e`. */
export function escaped(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const units = [...Array(character.length).keys()].map((at) => character.charCodeAt(at));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
  });
}

export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

export function milliseconds(ms: number): string {
  return `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}

/** Rows as lines, each column as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => width(row[column] ?? "")))) ?? [];
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - width(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Without colours. */
function width(cell: string): number {
  return stripVTControlCharacters(cell).length;
}

/** The first line, cut visibly. */
export function shortened(text: string, units: number): string {
  const [line = ""] = text.split("\n", 1);
  return line.length <= units ? line : `${line.slice(0, units - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

export function indented(text: string): string {
  return text === "" ? "" : text.trimEnd().replace(/^/gm, "    ");
}

export function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

/** A path as a person would type it: relative to the current folder where it is in it. */
export function shownPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path === "" || path.startsWith("..") ? file : path;
}
