import type { Command } from "commander";

import { messageOf } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { Runtime } from "../../runtime.ts";
import type { Act } from "./act.ts";
import type { Exit } from "./exit-codes.ts";
import { configOptions } from "./mcp/files.ts";
import { type LiveServer, startServers } from "./mcp/live.ts";
import { openRoom } from "./mcp/room.ts";
import { count } from "./layout.ts";
import { type Check, checksText, problemText } from "./output.ts";
import type { CommonFlags, Session } from "./session.ts";

export function addDoctor(program: Command, act: Act): void {
  program
    .command("doctor")
    .description("say what works, what does not, and why")
    .addHelpText("after", "\nExample:\n  skillgate doctor --json")
    .action(
      act(async (session) => {
        const checks = [nodeCheck(), await filesCheck(session.flags), ...(await runtimeChecks(session))];
        return {
          exit: exitOf(checks),
          json: { ok: exitOf(checks) === "ok", checks },
          text: checksText(checks, session.paint.out),
        };
      }),
    );
}

/** What a person has to mend comes before what may come back by itself. */
function exitOf(checks: readonly Check[]): Exit {
  const failed = checks.filter(({ status }) => status === "error");
  if (failed.length === 0) return "ok";
  return failed.every(({ kind }) => kind === "server") ? "unreachable" : "usage";
}

function nodeCheck(): Check {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNewEnough = major > OLDEST_NODE.major || (major === OLDEST_NODE.major && minor >= OLDEST_NODE.minor);
  const says = isNewEnough ? node : `${node}, but ${OLDEST_NODE.major}.${OLDEST_NODE.minor} or newer is wanted`;
  return { kind: "node", subject: "Node.js", status: isNewEnough ? "ok" : "error", says, details: "" };
}

/** As in package.json. */
const OLDEST_NODE = { major: 20, minor: 19 };

async function filesCheck(flags: CommonFlags): Promise<Check> {
  const { existingFiles } = await openRoom();
  const found = existingFiles(configOptions(flags));
  const says = found.length === 0 ? "no files, which is fine" : found.join(", ");
  return { kind: "configuration", subject: "Configuration", status: "ok", says, details: "" };
}

/** Everything that takes a runtime; if it cannot be opened, why. */
async function runtimeChecks(session: Session): Promise<readonly Check[]> {
  try {
    const { runtime, servers, otherProblems, doubts } = await startServers(session);
    const problems = otherProblems.map((problem) =>
      problemCheck(problem, doubts.has(problem.error) ? "warning" : statusOf(problem, runtime)),
    );
    return [await engineCheck(runtime), skillsCheck(runtime), ...problems, ...servers.map(serverCheck)];
  } catch (thrown) {
    if (session.signal.aborted) throw thrown;
    return [problemCheck({ source: "", error: messageOf(thrown) }, "error")];
  }
}

/** Below what is wrong, what to write instead. */
function problemCheck(problem: Problem, status: Check["status"]): Check {
  return { kind: "configuration", subject: "Problem", status, says: problemText(problem), details: problem.fix ?? "" };
}

/** What is wrong with a part of a skill that is there all the same is no failure. */
function statusOf({ source, isHeld }: Problem, { catalog }: Runtime): Check["status"] {
  return isHeld || catalog.skills.some((skill) => skill.source === source) ? "warning" : "error";
}

async function engineCheck(runtime: Runtime): Promise<Check> {
  const outcome = await runtime.run("1 + 1");
  const works = outcome.kind === "completed" && outcome.value === 2;
  const says = works
    ? `ran a snippet in ${outcome.usage.wallMs.toFixed(1)} ms`
    : `did not run a snippet: ${outcome.text}`;
  return { kind: "engine", subject: "Sandbox", status: works ? "ok" : "error", says, details: "" };
}

function skillsCheck({ catalog }: Runtime): Check {
  const skills = catalog.skills.filter(({ kind }) => kind !== "mcp");
  const names = skills.map(({ name, methods }) => `${name} (${count(methods.length, "method")})`);
  const says = names.length === 0 ? "none" : names.join(", ");
  return { kind: "skills", subject: "Skills", status: "ok", says, details: "" };
}

function serverCheck({ name, skill, status, toolCount, quarantined, error, stderrTail }: LiveServer): Check {
  const isUp = status === "connected";
  const kept = quarantined.length === 0 ? "" : `, ${quarantined.length} left out`;
  return {
    kind: "server",
    subject: `MCP server ${name}`,
    status: isUp || status === "disabled" ? "ok" : "error",
    says: isUp
      ? `connected as ${skill}, ${count(toolCount, "tool")}${kept}`
      : `${status}${error === undefined ? "" : `: ${error}`}`,
    details: isUp ? "" : stderrTail,
  };
}
