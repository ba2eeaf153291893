import { ERRORS, getMessage } from "../../../errors.ts";
import type { CallRecord, Outcome, Usage, Violation } from "../../../model/outcome.ts";
import type { CallSite, Plan } from "../../../model/plan.ts";
import { formatPartsPath } from "../../../shared/names/method-paths.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, lines, milliseconds, table } from "./layout.ts";
import { errorText, getOwnerFix, showPaths, valueText } from "./output.ts";

/** The output of a run, and its result. */
export function outcomeText(outcome: Outcome): string {
  switch (outcome.kind) {
    case "completed":
      return valueText(outcome.value, outcome.output);
    case "refused":
    case "waiting":
      return "";
    case "failed":
      return outcome.output;
  }
}

/** The notes or errors of a run. A person at a terminal sees the paths that are hidden from models. */
export function outcomeRemarks(outcome: Outcome, paint: Paint, isTerminal = process.stderr.isTTY): string {
  switch (outcome.kind) {
    case "completed":
      return noteLines(outcome.notes, paint);
    case "refused":
    case "waiting":
      return outcome.text;
    case "failed": {
      const { code, message, line, column, frame, hint: advice, cause } = outcome.error;
      // A hint of the run itself is more specific than the one in the table.
      const hint = advice === ERRORS[code].fix ? getOwnerFix(code) : advice;
      const at = line === 0 ? "" : ` (line ${line}, column ${column + 1})`;
      const store = code === "RECORD_FAILED" && cause !== undefined ? `The store reports: ${getMessage(cause)}` : "";
      const says = isTerminal ? showPaths(message, cause) : message;
      return errorText({ message: says + at, frame, hint: lines([store, hint]) }, paint);
    }
  }
}

/** Every call of a run, and the resources that the run used. */
export function traceText(outcome: Outcome, paint: Paint): string {
  if (outcome.kind === "refused") return paint.dim("0 calls");
  if (outcome.kind === "waiting") return paint.dim("The run has not ended");
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
  return `${count(calls, "call")}, ${milliseconds(wallMs)} in total, ${milliseconds(cpuMs)} in the sandbox, ${(memoryBytes / (1 << 20)).toFixed(1)} MiB`;
}

/** All violations of a program. */
export function violationsText(violations: readonly Violation[], paint: Paint): string {
  return violations.map(({ message, frame, fix }) => errorText({ message, frame, hint: fix }, paint)).join("\n\n");
}

/** The calls that a program will make. */
export function planText(plan: Plan): string {
  if (plan.length === 0) return "The program is valid; it calls nothing";
  return lines([
    "The program is valid; it calls",
    ...table(
      plan.map((site) => [`  line ${site.line}`, formatPartsPath(site.path, site.parts ?? []), circumstances(site)]),
    ),
  ]);
}

function circumstances({ dynamic, inLoop, conditional, parallel }: CallSite): string {
  const facts = [
    dynamic && "passed as a value",
    inLoop && "in a loop",
    conditional && "conditional",
    parallel && "in parallel",
  ];
  return facts.filter(Boolean).join(", ");
}

export function noteLines(notes: readonly string[], paint: Paint): string {
  return lines(notes.map((note) => paint.dim(`Note: ${note}`)));
}

/** Says where the bundled skills are, once the project's own skills replace them. */
export function takenOverNote(shipped: string, paint: Paint): string {
  const note = `The bundled skills in ${shipped} are no longer used in this project; copy those that you want to keep`;
  return noteLines([note], paint);
}
