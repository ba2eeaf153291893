import { isForeign } from "../../../model/catalog.ts";
import type { Command } from "commander";

import { getMessage } from "../../../errors.ts";
import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { checkModel } from "../agent/model-check.ts";
import { checkExecutors } from "./executor-check.ts";
import type { CommandAction } from "../command-action.ts";
import type { Exit } from "../exit-codes.ts";
import { configOptions } from "../mcp/files.ts";
import { openServers } from "../mcp/open-servers.ts";
import type { StartedServer } from "../mcp/start-servers.ts";
import { loadConfigModule } from "../mcp/load-config.ts";
import { otherProblems } from "../unknown-path.ts";
import { checkTelemetry } from "../telemetry.ts";
import { count } from "../text/layout.ts";
import { countTools } from "../text/server-texts.ts";
import { type DoctorCheck, checksText, problemText } from "../text/output.ts";
import type { CommonFlags, CliSession } from "../session.ts";

export function addDoctor(program: Command, act: CommandAction): void {
  program
    .command("doctor")
    .description("check the installation, the configuration, skills and servers")
    .addHelpText("after", "\nExample:\n  skillgate doctor --json")
    .action(
      act(async (session) => {
        const checks: DoctorCheck[] = [];
        const report = (...more: readonly DoctorCheck[]): void => {
          checks.push(...more);
          if (!session.flags.json && more.length > 0) session.write("out", `${checksText(more, session.paint.out)}\n`);
        };
        report(nodeCheck(), await filesCheck(session.flags));
        await checkRuntime(session, report);
        report(...checkTelemetry(await session.telemetry.start()));
        return { exit: getExit(checks), json: { ok: getExit(checks) === "ok", checks }, text: "", isWarned: true };
      }),
    );
}

/** A problem that the user must fix takes precedence over a server that may recover. */
function getExit(checks: readonly DoctorCheck[]): Exit {
  const failed = checks.filter(({ status }) => status === "error");
  if (failed.length === 0) return "ok";
  return failed.every(({ kind }) => kind === "server") ? "unreachable" : "usage";
}

function nodeCheck(): DoctorCheck {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNewEnough = major > MIN_NODE.major || (major === MIN_NODE.major && minor >= MIN_NODE.minor);
  const says = isNewEnough ? node : `${node}, but ${MIN_NODE.major}.${MIN_NODE.minor} or newer is required`;
  return { kind: "node", subject: "Node.js", status: isNewEnough ? "ok" : "error", says, details: "" };
}

/** The same minimum as in package.json. */
const MIN_NODE = { major: 20, minor: 19 };

async function filesCheck(flags: CommonFlags): Promise<DoctorCheck> {
  const { existingFiles } = await loadConfigModule();
  const found = existingFiles(configOptions(flags));
  const says = found.length === 0 ? "no files (they are optional)" : found.join(", ");
  return { kind: "configuration", subject: "Configuration", status: "ok", says, details: "" };
}

type ReportChecks = (...checks: readonly DoctorCheck[]) => void;

/** Runs the checks that need a runtime, or reports why it does not open. */
async function checkRuntime(session: CliSession, report: ReportChecks): Promise<void> {
  try {
    const { runtime, warnings, follow } = await openServers(session);
    const reported = new Set<string>();
    const reportProblems = (): void => {
      const fresh = otherProblems(runtime).filter(({ error }) => !reported.has(error));
      for (const problem of fresh) {
        reported.add(problem.error);
        report(problemCheck(problem, warnings.has(problem.error) ? "warning" : getStatus(problem, runtime)));
      }
    };
    report(await engineCheck(runtime), skillsCheck(runtime));
    reportProblems();
    report(await checkModel(session));
    await follow((server) => report(serverCheck(server)));
    reportProblems();
    report(...(await checkServerSettings(runtime)));
    report(...runtime.nodes.map(deviceCheck), ...(await checkExecutors(session, runtime)));
  } catch (thrown) {
    if (session.signal.aborted) throw thrown;
    report(problemCheck({ source: "", error: getMessage(thrown) }, "error"));
  }
}

/** Returns a problem of the section `server`, which no other part of the runtime reads. */
async function checkServerSettings({ sections }: Runtime): Promise<readonly DoctorCheck[]> {
  const { parseServerSettings } = await import("../../http/index.ts");
  try {
    parseServerSettings(sections["server"]);
    return [];
  } catch (thrown) {
    return [problemCheck({ source: "settings.yaml", error: getMessage(thrown) }, "error")];
  }
}

/** The problem, with its fix below. */
function problemCheck(problem: Problem, status: DoctorCheck["status"]): DoctorCheck {
  return { kind: "configuration", subject: "Problem", status, says: problemText(problem), details: problem.fix ?? "" };
}

/** A problem with part of a skill that loaded all the same is only a warning. */
function getStatus({ source, isHeld }: Problem, { catalog }: Runtime): DoctorCheck["status"] {
  return isHeld || catalog.skills.some((skill) => skill.source === source) ? "warning" : "error";
}

async function engineCheck(runtime: Runtime): Promise<DoctorCheck> {
  const outcome = await runtime.run("1 + 1");
  const works = outcome.kind === "completed" && outcome.value === 2;
  const says = works
    ? `ran a program in ${outcome.usage.wallMs.toFixed(1)} ms`
    : `could not run a program: ${outcome.text}`;
  return { kind: "engine", subject: "Sandbox", status: works ? "ok" : "error", says, details: "" };
}

function skillsCheck({ catalog }: Runtime): DoctorCheck {
  const skills = catalog.skills.filter((skill) => !isForeign(skill));
  const names = skills.map(({ name, methods }) => `${name} (${count(methods.length, "method")})`);
  const says = names.length === 0 ? "none" : names.join(", ");
  return { kind: "skills", subject: "Skills", status: "ok", says, details: "" };
}

function deviceCheck({ device, title, methods }: Runtime["nodes"][number]): DoctorCheck {
  const says = `${title} is connected, ${count(methods, "method")}`;
  return { kind: "device", subject: `Device ${device}`, status: "ok", says, details: "" };
}

function serverCheck(server: StartedServer): DoctorCheck {
  const { name, skill, status, error, stderrTail } = server;
  const isUp = status === "connected";
  return {
    kind: "server",
    subject: `MCP server ${name}`,
    status: isUp || status === "disabled" ? "ok" : "error",
    says: isUp ? `connected as ${skill}, ${countTools(server)}` : `${status}${error === undefined ? "" : `: ${error}`}`,
    details: isUp ? "" : stderrTail,
  };
}
