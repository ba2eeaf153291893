import { existsSync } from "node:fs";

import type { ModelChoice } from "../../../agent/index.ts";
import { getMessage, SkillgateError } from "../../../errors.ts";
import { isForeign } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
import { fetchSameServer } from "../../../shared/http/fetch-same-server.ts";
import { findTypeScript } from "../../../shared/package/typescript.ts";
import { loadAgentModule } from "../agent/open-agent.ts";
import { checkAccounts } from "../account/check-accounts.ts";
import { checkAutomations } from "../automation/check-automations.ts";
import type { CliCommand } from "../command.ts";
import { checkStore } from "./check-store.ts";
import type { Exit } from "../exit-codes.ts";
import { findAddressCollisions } from "../mcp/collisions.ts";
import { configOptions, loadConfigModule, openConfig } from "../mcp/files.ts";
import { openServers, type StartedServer } from "../mcp/start-servers.ts";
import { checkApis } from "../source/check-apis.ts";
import type { CliSession, CommonFlags } from "../session.ts";
import { checkTelemetry } from "../telemetry.ts";
import { count, shownPath } from "../text/layout.ts";
import { checksText, type DoctorCheck, problemText } from "../text/output.ts";
import { countTools } from "../text/server-texts.ts";
import { otherProblems } from "../unknown-path.ts";

export function addDoctor(program: CliCommand): void {
  program
    .command("doctor")
    .description("check the installation, the configuration, the store, skills and servers")
    .addHelpText("after", "\nExample:\n  skillgate doctor --json")
    .run(async (session) => {
      const checks: DoctorCheck[] = [];
      const report = (...more: readonly DoctorCheck[]): void => {
        checks.push(...more);
        if (!session.flags.json && more.length > 0) session.write("out", `${checksText(more, session.paint.out)}\n`);
      };
      report(nodeCheck(), typescriptCheck(), await filesCheck(session.flags));
      const stores = await openStore(session);
      report(...stores);
      await checkRuntime(session, report);
      // A damaged store would be replaced by a new one.
      if (stores[0]?.status === "ok") report(...(await checkAutomations(session)));
      report(...checkTelemetry(await session.telemetry.start()));
      return { exit: getExit(checks), json: { ok: getExit(checks) === "ok", checks }, text: "", isWarned: true };
    });
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

/** Types are checked by an optional package. */
function typescriptCheck(): DoctorCheck {
  const installed = findTypeScript();
  const facts = { kind: "typescript", subject: "TypeScript", details: "" } as const;
  if (installed === undefined) return { ...facts, status: "ok", says: "not installed; types are not checked" };
  const { version, why } = installed;
  return why === undefined
    ? { ...facts, status: "ok", says: version }
    : { ...facts, status: "warning", says: `types are not checked: ${why}` };
}

/** The same minimum as in package.json. */
const MIN_NODE = { major: 20, minor: 19 };

async function filesCheck(flags: CommonFlags): Promise<DoctorCheck> {
  const { existingFiles } = await loadConfigModule();
  const found = existingFiles(configOptions(flags));
  const says = found.length === 0 ? "no files (they are optional)" : found.join(", ");
  return { kind: "configuration", subject: "Configuration", status: "ok", says, details: "" };
}

/** Settings that cannot be read are reported with the runtime. */
async function openStore({ folders }: CliSession): Promise<readonly DoctorCheck[]> {
  const found = await folders().catch(() => undefined);
  return found === undefined ? [] : checkStore(found.database);
}

type ReportChecks = (...checks: readonly DoctorCheck[]) => void;

/** Runs the checks that need a runtime, or reports why it does not open. */
async function checkRuntime(session: CliSession, report: ReportChecks): Promise<void> {
  try {
    const { runtime, warnings, follow } = await openServers(session);
    const reported = new Set<string>();
    const reportProblems = (): void => {
      const fresh = otherProblems(runtime).filter(({ error, source }) => !reported.has(error) && !isOfApi(source));
      for (const problem of fresh) {
        reported.add(problem.error);
        report(problemCheck(problem, warnings.has(problem.error) ? "warning" : getStatus(problem, runtime)));
      }
    };
    const { skills: folder } = await session.folders();
    report(await engineCheck(runtime), skillsCheck(runtime, folder), ...(await checkSkillSettings(runtime)));
    reportProblems();
    report(await checkModel(session));
    await follow((server) => report(serverCheck(server)));
    reportProblems();
    report(...checkApis(runtime), ...(await checkAccounts(runtime)));
    report(...(await findAddressCollisions(runtime)).map((problem) => problemCheck(problem, "warning")));
    report(...(await checkServerSettings(runtime)));
    report(...runtime.nodes.map(deviceCheck), ...(await checkExecutors(session, runtime)));
  } catch (thrown) {
    if (session.signal.aborted) throw thrown;
    report(problemCheck({ source: "", error: getMessage(thrown) }, "error"));
  }
}

/** Its API has a check of its own. */
function isOfApi(source: string): boolean {
  return source.startsWith("sources.");
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

function skillsCheck({ catalog }: Runtime, folder: string): DoctorCheck {
  const skills = catalog.skills.filter((skill) => !isForeign(skill));
  const names = skills.map(({ name, methods }) => `${name} (${count(methods.length, "method")})`);
  const facts = { kind: "skills", subject: "Skills", details: "" } as const;
  if (names.length > 0) return { ...facts, status: "ok", says: names.join(", ") };
  return existsSync(folder)
    ? { ...facts, status: "ok", says: `none in ${shownPath(folder)}` }
    : { ...facts, status: "warning", says: `none, because ${shownPath(folder)} does not exist` };
}

/** Warns of settings that programs and results may show, because their skill does not declare them as secrets. */
async function checkSkillSettings({ catalog }: Runtime): Promise<readonly DoctorCheck[]> {
  const { findUnmarkedSecrets } = await import("../../../runtime/skill-settings.ts");
  return catalog.skills.flatMap(({ name, provided: { settings = {} } }) =>
    findUnmarkedSecrets(settings).map((setting) => {
      const says = `${setting} of ${name} looks like a secret, and is not masked`;
      const details = "Write writeOnly: true in its schema, so that no program and no output shows its value";
      return { kind: "configuration", subject: "Setting", status: "warning", says, details } as const;
    }),
  );
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
    // It may only be slow.
    status: isUp || status === "disabled" ? "ok" : status === "connecting" ? "warning" : "error",
    says: isUp ? `connected as ${skill}, ${countTools(server)}` : `${status}${error === undefined ? "" : `: ${error}`}`,
    details: isUp ? "" : stderrTail,
  };
}

/** Connects to the executors of the settings, and checks that there is one with this version. */
export async function checkExecutors(session: CliSession, runtime: Runtime): Promise<readonly DoctorCheck[]> {
  const { settings } = await session.readNetwork("executors", {});
  if (settings === undefined) return [];
  const { connectExecutors, createVersionReader } = await import("../../../executors/index.ts");
  const { database } = await session.folders();
  const warnings: string[] = [];
  const pool = await connectExecutors({
    settings,
    readVersion: createVersionReader(() => runtime, database),
    warn: (text) => warnings.push(text),
    inform: () => {},
  });
  try {
    await pool.known;
    const { failure, processes } = pool;
    const says = failure ?? `${count(processes.length, "executor")} with this version`;
    const status = failure === undefined && processes.length > 0 ? "ok" : "error";
    return [{ kind: "executors", subject: "Executors", status, says, details: warnings.join("\n") }];
  } finally {
    await pool.close();
  }
}

const CHECK_TIMEOUT_MS = 5_000;

/** Checks the model that ask would use, and asks its server for the list of models. Problems are warnings. */
export async function checkModel(session: CliSession): Promise<DoctorCheck> {
  try {
    const [{ chooseModel, parseAgentSettings }, { settings, variables }] = await Promise.all([
      loadAgentModule(),
      openConfig(session),
    ]);
    const choice = chooseModel(undefined, parseAgentSettings(settings["agent"]), variables);
    return choice.provider === "scripted" ? createCheck("ok", `scripted:${choice.name}`) : await checkServer(choice);
  } catch (thrown) {
    if (!(thrown instanceof SkillgateError)) throw thrown;
    const { fix = "" } = thrown.facts;
    if (thrown.code !== "MODEL_MISSING") return createCheck("warning", thrown.message, String(fix));
    return createCheck("ok", "none (only ask and chat need one)", String(fix));
  }
}

async function checkServer(choice: ModelChoice): Promise<DoctorCheck> {
  const { provider, name, baseUrl, apiKey, keyVariable } = choice;
  const key = apiKey === undefined ? `no key in ${keyVariable}` : `key from ${keyVariable}`;
  const says = `${provider}:${name} at ${baseUrl}, ${key}`;
  try {
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const response = await fetchSameServer(getListUrl(choice), { headers: createHeaders(choice), signal });
    if (response.status === 401 || response.status === 403)
      return createCheck("warning", says, `The server refuses the key: HTTP ${response.status}`);
    if (!response.ok) return createCheck("ok", says); // not every server has a list
    const names = parseNames(await response.json());
    const isListed = names.length === 0 || names.some((each) => each === name || each === `${name}:latest`);
    const list = names.slice(0, MAX_NAMES).join(", ");
    return isListed
      ? createCheck("ok", says)
      : createCheck("warning", says, `The server has no model ${name}; it has ${list}`);
  } catch (thrown) {
    return createCheck("warning", says, `Cannot reach the server: ${getReason(thrown)}`);
  }
}

const MAX_NAMES = 8;

function getListUrl({ provider, baseUrl }: ModelChoice): string {
  return provider === "ollama" && !baseUrl.endsWith("/v1") ? `${baseUrl}/api/tags` : `${baseUrl}/models`;
}

function createHeaders({ provider, apiKey }: ModelChoice): Record<string, string> {
  if (apiKey === undefined) return {};
  return provider === "anthropic"
    ? { "x-api-key": apiKey, "anthropic-version": "2023-06-01" }
    : { authorization: `Bearer ${apiKey}` };
}

/** Parses the list of models: `{ data: [{ id }] }`, and `{ models: [{ name }] }` of Ollama. */
function parseNames(answer: unknown): readonly string[] {
  const { data, models } = isRecord(answer) ? answer : {};
  const list: readonly unknown[] = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  return list.flatMap((each) => {
    const name = isRecord(each) ? (each["id"] ?? each["name"]) : undefined;
    return typeof name === "string" ? [name] : [];
  });
}

function getReason(thrown: unknown): string {
  return thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause.message : getMessage(thrown);
}

function createCheck(status: DoctorCheck["status"], says: string, details = ""): DoctorCheck {
  return { kind: "model", subject: "Model", status, says, details };
}
