import type { AgentEvent } from "../../../agent/index.ts";
import type { Approval } from "../../../approvals/index.ts";
import type { Skill } from "../../../model/catalog.ts";
import type { Runtime } from "../../../runtime.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { escapeControls } from "../../../shared/visible-text.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, escaped, indented, lines, milliseconds, shortened, table } from "../text/layout.ts";
import { serverMark } from "../text/server-texts.ts";

/** Names of tools that the list of servers shows. */
const MAX_TOOL_NAMES = 5;

const MAX_TOOL_NAME_UNITS = 64;

/** Units of a description or a line of code in a list, so that a row fits a narrow terminal. */
const MAX_ROW_UNITS = 50;

/** Each server with its transport, the number of its tools, and the names of the first. */
export function mcpText(servers: Runtime["servers"], paint: Paint): string {
  if (servers.length === 0) return "No MCP servers are configured";
  return lines(
    servers.flatMap(({ name, transport, status, tools, error = "" }) => {
      const state = status === "connected" ? "" : `, ${status}`;
      const names = tools.slice(0, MAX_TOOL_NAMES).map((tool) => escaped(truncateText(tool.name, MAX_TOOL_NAME_UNITS)));
      const more = tools.length > MAX_TOOL_NAMES ? [`... and ${tools.length - MAX_TOOL_NAMES} more`] : [];
      return [
        `${serverMark(status, paint)} ${paint.cyan(escaped(name))} (${transport}): ${count(tools.length, "tool")}${state}`,
        indented([...names, ...more].join("\n")),
        indented(escapeControls(error)),
      ];
    }),
  );
}

export function skillListText(skills: readonly Skill[], paint: Paint): string {
  if (skills.length === 0) return "No skills found";
  return lines(
    skills.flatMap(({ name, methods, description }) => [
      `${paint.cyan(name)}: ${count(methods.length, "method")}`,
      describe(description, paint),
    ]),
  );
}

export function skillMethodsText({ name, methods }: Skill, paint: Paint): string {
  if (methods.length === 0) return `${name} has no methods`;
  return lines(methods.flatMap(({ path, description }) => [paint.cyan(path), describe(description, paint)]));
}

function describe(description: string, paint: Paint): string {
  return description === "" ? "" : `    ${paint.dim(escaped(shortened(description, MAX_ROW_UNITS)))}`;
}

/** The programs with their calls; `whole` adds the code and the result. */
export function runsText(runs: readonly ChatProgram[], paint: Paint, form: "brief" | "whole" = "brief"): string {
  if (runs.length === 0) return "No programs yet";
  return lines(
    runs.flatMap((run) => {
      const firstLine = run.code.trim().split("\n", 1)[0] ?? "";
      const code =
        form === "whole" ? indented(escapeControls(run.code)) : `    ${escaped(shortened(firstLine, MAX_ROW_UNITS))}`;
      const calls = run.calls.map(
        ({ path, outcome, durationMs }) =>
          `    ${paint.cyan(path)} ${outcome === "ok" ? paint.green(outcome) : paint.red(outcome)} ${paint.dim(milliseconds(durationMs))}`,
      );
      const id = run.runId === undefined ? "" : paint.dim(` ${run.runId}`);
      const result = form === "whole" && run.result !== undefined ? indented(escapeControls(run.result.text)) : "";
      return [`${paint.bold(run.step)} ${getState(run, paint)}${id}`, code, ...calls, result];
    }),
  );
}

function getState({ result }: ChatProgram, paint: Paint): string {
  if (result === undefined) return paint.dim("stopped");
  return result.isError ? paint.red("failed") : paint.green("ok");
}

/** The calls that wait, each with its question. */
export function pendingApprovalsText(approvals: readonly Approval[], paint: Paint): string {
  if (approvals.length === 0) return "No calls wait for an approval";
  return lines(
    approvals.flatMap(({ id, card, scopes }) => [
      escapeControls(card),
      `Approve with ${paint.cyan(`/approve ${id} [${scopes.join("|")}]`)}, or deny with ${paint.cyan(`/deny ${id}`)}`,
    ]),
  );
}

export function helpText(
  commands: readonly { readonly name: string; readonly usage: string; readonly description: string }[],
): string {
  return lines([
    ...table(commands.map(({ name, usage, description }) => [`/${name} ${usage}`.trimEnd(), description])),
    "A \\ at the end of a line continues the message.",
    "Tab completes commands and paths of methods.",
    "Ctrl-C stops the work; twice, it ends the chat.",
  ]);
}

/** A program of the conversation. */
export interface ChatProgram {
  readonly step: string;
  readonly code: string;
  readonly calls: readonly { readonly path: string; readonly outcome: string; readonly durationMs: number }[];
  /** Absent while it runs, and if it was stopped. */
  readonly result?: { readonly isError: boolean; readonly text: string };
  readonly runId?: string;
}

/** Lists the programs of a conversation, in their order. */
export function listRuns(events: readonly AgentEvent[]): readonly ChatProgram[] {
  const programs = events.filter((event) => event.type === "code");
  return programs.map(({ step, code }) => {
    const calls = events.flatMap((event) =>
      event.type === "call_ended" && event.step === step
        ? [{ path: event.path, outcome: event.outcome, durationMs: event.durationMs }]
        : [],
    );
    const end = events.find((event) => event.type === "result" && event.step === step);
    if (end?.type !== "result") return { step, code, calls };
    const { isError, text, outcome } = end;
    return { step, code, calls, result: { isError, text }, ...(outcome && { runId: outcome.runId }) };
  });
}
