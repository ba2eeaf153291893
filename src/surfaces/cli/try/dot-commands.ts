import { OWNER } from "../../../model/caller.ts";
import type { Limits } from "../../../model/limits.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { Runtime } from "../../../runtime.ts";
import { searchSkills } from "../../../runtime/builtin-tools/index.ts";
import { describeUnknownName } from "../../../shared/suggest.ts";
import type { CliSession } from "../session.ts";
import { count, lines, milliseconds, table } from "../text/layout.ts";
import { warningsText } from "../text/output.ts";
import { noteLines, planText, traceText, violationsText } from "../text/run-texts.ts";

/** The state that the commands of a terminal session read. */
export interface TryContext {
  readonly session: CliSession;
  readonly runtime: Runtime;
  /** The limits of the next program. */
  readonly limits: Limits;
  /** The outcome of the last program. */
  readonly last: Outcome | undefined;
}

/** A command that begins with a point. */
interface DotCommand {
  /** The argument, as the help shows it. */
  readonly argument: string;
  readonly says: string;
  /** Returns the text to show. */
  readonly answer: (context: TryContext, rest: string) => string | Promise<string>;
}

export const EXIT = "exit";

const COMMANDS: Readonly<Record<string, DotCommand>> = {
  search: {
    argument: "WORDS",
    says: "find methods; without words, list them",
    answer: async ({ runtime }, rest) => (await searchSkills(runtime.viewFor(OWNER), { query: rest })).text,
  },
  describe: {
    argument: "PATH",
    says: "show a method, a skill or a pattern such as Skill.read_*",
    answer: ({ runtime }, rest) =>
      rest === "" ? "Write what to describe, as in .describe Skill.method" : runtime.describe(rest).text,
  },
  types: { argument: "[SKILL]", says: "show the TypeScript declarations", answer: showTypes },
  plan: { argument: "CODE", says: "check a program without running it, and list its calls", answer: showPlan },
  prompt: { argument: "", says: "show the system prompt of a model", answer: ({ runtime }) => runtime.systemPrompt() },
  time: { argument: "", says: "show the calls and the time of the last program", answer: showTime },
  budget: { argument: "", says: "show the limits of a program, and what the last one used", answer: showBudget },
  reload: {
    argument: "",
    says: "open the settings, skills and servers again",
    answer: reload,
  },
  help: { argument: "", says: "show this list", answer: showHelp },
  [EXIT]: { argument: "", says: "leave", answer: () => "" },
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

const DOTTED_NAMES = COMMAND_NAMES.map((name) => `.${name}`);

/** Returns the answer of a command; an unknown one is answered with the nearest names. */
export async function answerDotCommand(name: string, rest: string, context: TryContext): Promise<string> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command !== undefined) return command.answer(context, rest);
  return describeUnknownName("command", `.${name}`, DOTTED_NAMES, { otherwise: "use .help for a list" }).message;
}

async function reload({ session }: TryContext): Promise<string> {
  const { catalog, problems } = await session.openRuntime({ until: "known", which: "new" });
  const { skills, methods } = catalog;
  return lines([
    `${count(skills.length, "skill")} with ${count(methods.length, "method")}`,
    warningsText(problems, session.paint.out),
  ]);
}

function showTypes({ runtime }: TryContext, rest: string): string {
  const skills = rest.split(/[\s,]+/).filter((name) => name !== "");
  const unknown = skills.find((name) => runtime.catalog.skill(name) === undefined);
  if (unknown !== undefined) return runtime.describe(unknown).text;
  return runtime.declarations(skills.length === 0 ? undefined : skills).trimEnd();
}

async function showPlan({ runtime, session: { paint } }: TryContext, rest: string): Promise<string> {
  if (rest === "") return "Write the program, as in .plan await device.Skill.method()";
  const { violations, plan, notes } = await runtime.checkTexts(rest);
  if (violations.length > 0) return violationsText(violations, paint.out);
  return lines([planText(plan), noteLines(notes, paint.out)]);
}

function showTime({ last, session: { paint } }: TryContext): string {
  return last === undefined ? "No program has run yet" : traceText(last, paint.out);
}

function showBudget({ last, limits }: TryContext): string {
  const usage = last !== undefined && "usage" in last ? last.usage : undefined;
  const rows = [
    ["calls", String(limits.calls), usage && String(usage.calls)],
    ["time", milliseconds(limits.wallMs), usage && milliseconds(usage.wallMs)],
    ["time in the sandbox", milliseconds(limits.cpuMs), usage && milliseconds(usage.cpuMs)],
    ["memory", formatMebibytes(limits.memoryBytes), usage && formatMebibytes(usage.memoryBytes)],
    ["tokens of the result", String(limits.answerTokens), undefined],
  ];
  return lines(table([["", "limit", "last program"], ...rows.map((row) => row.map((cell = "") => cell))]));
}

function formatMebibytes(bytes: number): string {
  return `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

function showHelp(): string {
  const rows = Object.entries(COMMANDS).map(([name, { argument, says }]) => [`.${name} ${argument}`, says]);
  return lines([
    "Write a program as a model does. It runs when its syntax is complete, and keeps nothing for the next one.",
    "An empty line or a line ;; ends a program that is pasted. Tab completes. Ctrl-C stops the program.",
    ...table(rows),
  ]);
}
