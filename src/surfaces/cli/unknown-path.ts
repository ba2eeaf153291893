import { ERRORS, sentence, SkillgateError } from "../../errors.ts";
import type { Violation } from "../../model/outcome.ts";
import type { Problem } from "../../model/provider.ts";
import type { Runtime } from "../../runtime.ts";
import { lines } from "./text/layout.ts";
import { shortenedProblem, warningsText } from "./text/output.ts";
import type { CommandResult, Paint } from "./terminal/terminal.ts";

/** True if a snippet was refused for a name that a skill or a server which could not be loaded may have had. */
export function lacksSkill(violations: readonly Violation[]): boolean {
  return violations.some(({ code }) => code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN");
}

/** What to warn of beside what a snippet came to: all, if it may matter to it or if that is asked for. */
export function selectProblems({ problems }: Runtime, all: boolean | undefined): readonly Problem[] {
  return all ? problems : problems.filter(({ isForAllRuns }) => isForAllRuns);
}

/** An answer that also warns of problems that it does not tell of itself. */
export function withWarnings(answer: CommandResult, problems: readonly Problem[], paint: Paint): CommandResult {
  const { remarks = "", asides = "" } = answer;
  const told = remarks + asides + answer.text;
  const open = problems.filter((problem) => !told.includes(shortenedProblem(problem)));
  const untold = new Set(open.map((problem) => warningsText([problem], paint)));
  return untold.size === 0 ? answer : { ...answer, asides: lines([asides, ...untold]) };
}

/** Throws what `describe` says of a name that it does not know. */
export function throwUnknown(runtime: Runtime, path: string): void {
  const { kind, text, suggestions } = runtime.describe(path);
  if (kind !== "unknown") return;
  throwIfServerMissing(runtime, path);
  const isSkillKnown = runtime.catalog.skill(path.split(".")[0] ?? "") !== undefined;
  throw new SkillgateError(isSkillKnown ? "METHOD_UNKNOWN" : "SKILL_UNKNOWN", text, { path, suggestions });
}

/** Throws, for a skill that is not there because it is switched off or its MCP server is not, an error that says so. */
export function throwIfServerMissing(runtime: Runtime, path: string): void {
  const [skill = ""] = path.split(".");
  if (runtime.disabled().some(({ name }) => name === skill)) {
    throw new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, { skill });
  }
  const server = runtime.servers.find((each) => each.skill === skill);
  if (server === undefined || runtime.catalog.skill(skill) !== undefined) return;
  const facts = { skill, server: server.name };
  if (server.status === "disabled") throw new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, facts);
  const { error = server.status } = server;
  const isSentence = error.startsWith(ERRORS.SERVER_FAILED.says);
  throw new SkillgateError(
    "SERVER_FAILED",
    isSentence ? error : sentence("SERVER_FAILED", `"${server.name}": ${error}`),
    facts,
  );
}

/** The problems that no status of a server tells. */
export function otherProblems({ problems, servers }: Runtime): readonly Problem[] {
  const told = new Set(servers.flatMap(({ error }) => error ?? []));
  return problems.filter(({ error }) => !told.has(error));
}
