import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";

import { sentence, SkillgateError } from "../../errors.ts";
import type { KeyCaller } from "../../keys/index.ts";
import { type Caller, OWNER } from "../../model/caller.ts";
import type { Explanation, PolicyTestResult } from "../../policy/index.ts";
import type { Runtime } from "../../runtime.ts";
import type { CliCommand, CommandResult } from "./command.ts";
import { describeMatches, matchPermissions } from "./input/permission-matches.ts";
import { writeNewFile } from "./input/write-files.ts";
import { loadConfigModule } from "./mcp/files.ts";
import type { CliSession } from "./session.ts";
import type { Paint } from "./terminal/terminal.ts";
import { count, lines } from "./text/layout.ts";
import { problemText, warningsText } from "./text/output.ts";
import { throwUnknown } from "./unknown-path.ts";
import { UsageError } from "./usage-error.ts";

export function addPolicy(program: CliCommand): void {
  const policy = program
    .command("policy")
    .description("write, check, explain and test the rules in policies/tools.yaml")
    .addHelpText("after", HELP);
  policy
    .command("init")
    .description("write policies/tools.yaml with starter rows, and its JSON Schema; existing files stay unchanged")
    .argument("[folder]", "the folder", ".")
    .run(async (_session, folder: string) => initPolicy(folder));
  policy
    .command("check")
    .description("list the mistakes of the policy with line and column, and the rows that match no method")
    .run(checkPolicy);
  policy
    .command("explain")
    .description("show the decision on calls of a method, the row that applies, and the reasons")
    .argument("<path>", "Skill.method")
    .option("--caller <name>", "a key, or the id of another caller with the rights below (default: the owner)")
    .option("--scopes <list>", "scopes that the caller holds, separated by commas")
    .option("--roles <list>", "roles of the caller, separated by commas")
    .option("--permissions <list>", "what the caller may do, such as call:MathSkill.*,see:* (default: call:*)")
    .run(explainPath);
  policy
    .command("test")
    .description("compare a table of expected decisions with the policy")
    .argument("[file]", "the table", TESTS_FILE)
    .run(testPolicy);
}

const HELP = `
Examples:
  skillgate policy init
  skillgate policy explain FilesystemMCP.write_file --caller ada --roles writer
  skillgate policy test`;

const TESTS_FILE = join("policies", "tests.yaml");

/** Loads the policy module when a command needs it, so that `--help` does not load it. */
function loadPolicyModule() {
  return import("../../policy/index.ts");
}

async function initPolicy(folder: string): Promise<CommandResult> {
  const { POLICY_FILE, POLICY_SCHEMA, STARTER_POLICY } = await loadPolicyModule();
  const { changeByHand } = await loadConfigModule();
  const root = resolve(folder);
  const tools = join(root, POLICY_FILE);
  const files: readonly (readonly [path: string, text: string])[] = [
    [tools, STARTER_POLICY],
    [join(dirname(tools), "tools.schema.json"), `${JSON.stringify(POLICY_SCHEMA, null, 2)}\n`],
  ];
  const missing = files.filter(([path]) => !existsSync(path));
  const created = missing.map(([path]) => path);
  await changeByHand({ cwd: root, env: process.env }, { files: created }, async () => {
    for (const [path, text] of missing) await writeNewFile(path, text);
  });
  const existing = files.map(([path]) => path).filter((path) => !created.includes(path));
  return {
    json: { folder: root, made: created.map((path) => relative(root, path)) },
    text: lines([
      ...created.map((path) => `Created ${relative(".", path)}`),
      ...existing.map((path) => `Kept ${relative(".", path)}`),
    ]),
  };
}

async function checkPolicy({ openRuntime, paint }: CliSession): Promise<CommandResult> {
  const { POLICY_FILE, checkAgainstCatalog, readPolicyFiles } = await loadPolicyModule();
  const read = await readPolicyFiles({ tools: resolve(POLICY_FILE), isNamed: true });
  const { problems, rows } = read;
  if (!read.exists && problems.length <= 1 && !existsSync(POLICY_FILE)) throw missingFile(POLICY_FILE, "policy init");
  if (problems.length > 0)
    return {
      exit: "usage",
      json: { ok: false, problems, warnings: [] },
      text: "",
      remarks: lines(problems.map((problem) => `${paint.err.red("✗")} ${problemText(problem)}`)),
    };
  const { catalog } = await openRuntime({ until: "known" });
  const warnings = [...read.notes, ...checkAgainstCatalog(rows, catalog, POLICY_FILE)];
  return {
    json: { ok: true, problems, warnings },
    text: `${paint.out.green("✓")} ${POLICY_FILE}: ${count(rows.length, "row")}, ${count(read.flows.length, "flow")}`,
    asides: warningsText(warnings, paint.err),
  };
}

interface CallerFlags {
  readonly caller?: string;
  readonly scopes?: string;
  readonly roles?: string;
  readonly permissions?: string;
}

async function explainPath(session: CliSession, path: string, flags: CallerFlags): Promise<CommandResult> {
  const { explainDecision } = await loadPolicyModule();
  const runtime = await session.openRuntime({ until: "known" });
  const method = runtime.catalog.entry(path);
  if (method === undefined) {
    throwUnknown(runtime, path);
    throw new SkillgateError(
      "METHOD_UNKNOWN",
      sentence("METHOD_UNKNOWN", `${path} is a skill; name one of its methods`),
    );
  }
  const key = flags.caller === undefined ? undefined : await findKeyCaller(runtime, flags.caller);
  const caller = await callerFrom(flags, key?.caller);
  const { reasons, decision, ...explanation } = explainDecision(runtime.policy, method, caller);
  const lasting = await findLastingApproval(runtime, path, caller);
  const state = key === undefined || key.state === "active" ? [] : [`The key is ${key.state}, so it calls nothing`];
  const answer = {
    ...explanation,
    decision: state.length === 0 ? decision : "deny",
    reasons: [...state, ...reasons, ...lasting],
  } satisfies Explanation;
  const isUnknown = key === undefined && Object.keys(flags).join(" ") === "caller";
  const matches = flags.permissions === undefined ? {} : await matchPermissions(caller.permissions, runtime.catalog);
  return {
    json: answer,
    text: explanationText(answer, session.paint.out),
    remarks: isUnknown
      ? `No key is named ${flags.caller}: this is a caller with call:* and no scope`
      : describeMatches(matches),
  };
}

/** Finds the caller of a stored key. */
async function findKeyCaller(runtime: Runtime, name: string): Promise<KeyCaller | undefined> {
  const { createKeys } = await import("../../keys/index.ts");
  return createKeys(await runtime.database()).findCaller(name);
}

/** Names the row that approves further calls of a method by a caller, if there is one. */
async function findLastingApproval({ policy }: Runtime, path: string, caller: Caller): Promise<readonly string[]> {
  if (policy.content.onlyTightens) return [];
  const { findApprovedRow, getApprovedFile } = await import("../../approvals/index.ts");
  const { POLICY_FILE } = await loadPolicyModule();
  const file = getApprovedFile(POLICY_FILE);
  const row = await findApprovedRow(resolve(file), { path, caller: caller.id, now: Date.now() });
  if (row === undefined) return [];
  const until = new Date(row.expires).toISOString().slice(0, 10);
  return [`Approved for ${JSON.stringify(caller.id)} until ${until} in ${file}, line ${row.line}`];
}

/** Without any flag, the owner. Flags replace the rights of a key. */
async function callerFrom(flags: CallerFlags, key: Caller | undefined): Promise<Caller> {
  if (Object.keys(flags).length === 0) return OWNER;
  const { caller: id = "caller", scopes, roles } = flags;
  const list = (text = ""): readonly string[] => text.split(",").filter((each) => each !== "");
  const permissions = await parsePermissions(list(flags.permissions ?? "call:*"));
  if (key === undefined) return { id, scopes: list(scopes), roles: list(roles), permissions };
  return {
    ...key,
    ...(scopes !== undefined && { scopes: list(scopes) }),
    ...(roles !== undefined && { roles: list(roles) }),
    ...(flags.permissions !== undefined && { permissions }),
  };
}

async function parsePermissions(permissions: readonly string[]): Promise<readonly string[]> {
  const { findPermissionFlaw, toNotation } = await import("../../keys/index.ts");
  const flaw = findPermissionFlaw(permissions);
  if (flaw !== undefined) throw new UsageError(`Cannot use --permissions: ${flaw}`);
  return permissions.flatMap(toNotation);
}

function explanationText({ path, caller, decision, rule, reasons, rows }: Explanation, paint: Paint): string {
  const { requiredScopes, sensitivity, approval, rateLimit, cooldownSeconds, timeoutMs } = rule;
  const facts = [
    requiredScopes.length === 0 ? "" : `scopes ${requiredScopes.join(", ")}`,
    `sensitivity ${sensitivity}`,
    approval === "none" ? "" : `approval by ${approval === "admin" ? "an administrator" : "the user"}`,
    rateLimit === 0 ? "" : `${rateLimit} calls per minute`,
    cooldownSeconds === 0 ? "" : `cooldown ${cooldownSeconds}s`,
    `timeout ${timeoutMs / 1_000}s`,
  ];
  return lines([
    `${path}: ${paint.cyan(decision)} for ${caller}`,
    ...reasons.map((reason) => `  ${reason}`),
    `  ${facts.filter((fact) => fact !== "").join("; ")}`,
    ...rows.map(({ key, line, why }, at) => paint.dim(`  ${at === 0 ? "row" : "also"} "${key}" (line ${line}) ${why}`)),
  ]);
}

async function testPolicy({ openRuntime, paint }: CliSession, file: string): Promise<CommandResult> {
  const { runPolicyTests } = await loadPolicyModule();
  if (!existsSync(file)) throw missingFile(file);
  const { policy, catalog } = await openRuntime({ until: "known" });
  const results = runPolicyTests(await readFile(file, "utf8"), file, { policy, catalog });
  const failures = results.filter(({ passed }) => !passed);
  return {
    exit: failures.length === 0 ? "ok" : "failed",
    json: { ok: failures.length === 0, results },
    text: lines([
      ...failures.map((failure) => `${paint.out.red("✗")} ${failureText(file, failure)}`),
      `${results.length - failures.length} of ${count(results.length, "decision")} as expected`,
    ]),
  };
}

function failureText(file: string, { line, path, caller, expected, decision, reasons }: PolicyTestResult): string {
  return `${file} line ${line}: ${path} is ${decision} for ${caller}, not ${expected}. ${reasons.join(". ")}`;
}

function missingFile(file: string, command?: string): SkillgateError {
  return new SkillgateError("CONFIG_INVALID", sentence("CONFIG_INVALID", `${file} does not exist`), {
    file,
    fix: command === undefined ? "Write the path of a file that exists" : `Create it with: skillgate ${command}`,
  });
}
