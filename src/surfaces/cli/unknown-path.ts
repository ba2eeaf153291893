import { ERRORS, sentence, SkillgateError } from "../../errors.ts";
import type { Violation } from "../../model/outcome.ts";
import { type Problem, describeHeld } from "../../model/provider.ts";
import type { Runtime } from "../../runtime.ts";
import { splitPath } from "../../shared/names/method-paths.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import type { CommandResult } from "./command.ts";
import type { Paint } from "./terminal/terminal.ts";
import { lines } from "./text/layout.ts";
import { shortenedProblem, warningsText } from "./text/output.ts";

/** True if a program was refused for an unknown name, which may belong to a skill or server that did not load. */
export function lacksSkill(violations: readonly Violation[]): boolean {
  return violations.some(({ code }) => code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN");
}

/** Selects the problems to warn of beside the result of a program: all, or only those that concern every run. */
export function selectProblems({ problems }: Runtime, all: boolean | undefined): readonly Problem[] {
  return all ? problems : problems.filter(({ isForAllRuns }) => isForAllRuns);
}

/** Adds warnings for the problems that the result does not mention itself. */
export function withWarnings(answer: CommandResult, problems: readonly Problem[], paint: Paint): CommandResult {
  const { remarks = "", asides = "", isWarned = false } = answer;
  if (isWarned) return answer;
  const printed = remarks + asides + answer.text;
  const open = problems.filter((problem) => !printed.includes(shortenedProblem(problem)));
  const warnings = new Set(open.map((problem) => warningsText([problem], paint)));
  return warnings.size === 0 ? answer : { ...answer, asides: lines([asides, ...warnings]) };
}

/** Throws the error of `describe` if the path names no known skill or method. */
export function throwUnknown(runtime: Runtime, path: string): void {
  const { kind, text, suggestions } = runtime.describe(path);
  if (kind !== "unknown") return;
  throwIfServerMissing(runtime, path);
  const isSkillKnown = runtime.catalog.skill(splitPath(path).skill) !== undefined;
  throw new SkillgateError(isSkillKnown ? "METHOD_UNKNOWN" : "SKILL_UNKNOWN", text, { path, suggestions });
}

/** Throws if the skill is disabled or held, or if its MCP server is disabled or not connected. */
export function throwIfServerMissing(runtime: Runtime, path: string): void {
  const { skill } = splitPath(path);
  if (runtime.disabled().some(({ name }) => name === skill)) {
    throw new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, { skill });
  }
  const heldSkill = runtime.listHeldSkills().find(({ name }) => name === skill);
  if (heldSkill !== undefined && runtime.catalog.skill(skill) === undefined)
    throw new SkillgateError("SKILL_HELD", describeHeld(skill, heldSkill.why), { skill });
  const server = runtime.servers.find((each) => each.skill === skill);
  if (server === undefined || runtime.catalog.skill(skill) !== undefined) return;
  const facts = { skill, server: server.name };
  if (server.status === "disabled") throw new SkillgateError("SKILL_DISABLED", `Skill '${skill}' is disabled`, facts);
  const { error = server.status === "connecting" ? describeSilence(server.name) : server.status } = server;
  const isSentence = error.startsWith(ERRORS.SERVER_FAILED.says);
  throw new SkillgateError(
    "SERVER_FAILED",
    isSentence ? error : sentence("SERVER_FAILED", `"${server.name}": ${error}`),
    facts,
  );
}

/** The problems that no server's status reports. */
export function otherProblems({ problems, servers }: Runtime): readonly Problem[] {
  const reported = new Set(servers.flatMap(({ error }) => error ?? []));
  return problems.filter(({ error }) => !reported.has(error));
}

/** Returns the problems that concern every command, and those of parts that are held, if the command needs them. */
export function filterProblems(problems: readonly Problem[], reportsHeld: boolean): readonly Problem[] {
  return problems.filter(({ isForAllRuns, isHeld }) => isForAllRuns || (isHeld && reportsHeld));
}

/** Milliseconds for which a command that only shows something waits for a server that does not answer. */
export const MAX_WAIT_MS = 5_000;

/**
 * Waits until skills are loaded, whose imports have time limits of their own, and until the tools of all servers are known, 5 s at most.
 * Returns a problem for each server that has not answered.
 */
export async function waitForServers(runtime: Runtime): Promise<readonly Problem[]> {
  await runtime.opened;
  if (await waitAtMost(MAX_WAIT_MS, runtime.known)) return [];
  return runtime.servers
    .filter(({ status, skill }) => status === "connecting" && runtime.catalog.skill(skill) === undefined)
    .map(({ name }) => ({
      source: name,
      error: `MCP server "${name}": ${describeSilence(name)}`,
      isForAllRuns: true,
    }));
}

/** Says that a server has not answered, and how to wait for it. */
export function describeSilence(server: string): string {
  return `no answer within ${MAX_WAIT_MS / 1_000} s; wait for it with: skillgate mcp test ${server}`;
}
