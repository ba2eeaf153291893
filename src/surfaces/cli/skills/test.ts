import type { Method, Skill } from "../../../model/catalog.ts";
import type { Outcome } from "../../../model/outcome.ts";
import type { Runtime } from "../../../runtime.ts";
import { findSkillError } from "../../../shared/errors/skill-error.ts";
import type { CliCommand } from "../command.ts";
import type { CliSession } from "../session.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, indented, lines } from "../text/layout.ts";
import type * as authorTests from "./author-tests.ts";
import type { TestResult } from "./author-tests.ts";
import { localSkills } from "./local-skills.ts";

export function addSkillsTest(skills: CliCommand): void {
  skills
    .command("test")
    .description(
      "run the examples of skills as a model would, the *.test files beside them, and the runs of saved skills",
    )
    .argument("[skills...]", "names of skills (default: all in the skills folder)")
    .option("--watch", "test them again after each change of the skills")
    .run(async (session, names: readonly string[], { watch }: { readonly watch?: true }) => {
      if (watch) return (await import("../terminal/repeat-on-change.ts")).repeatOnChange(session);
      const results = await testSkills(session, names, await import("./author-tests.ts"));
      const { signal, paint } = session;
      signal.throwIfAborted();
      const failed = results.filter(({ outcome }) => outcome === "failed");
      return {
        exit: failed.length === 0 ? "ok" : "failed",
        json: { ok: failed.length === 0, results },
        text: lines([...results.map((result) => resultText(result, paint.out)), summaryText(results)]),
      };
    });
}

/** Runs the examples beside the test files, which have a process of their own, with stores of their own. */
async function testSkills(
  { openRuntime, folders, flags, signal }: CliSession,
  names: readonly string[],
  { testFilesIn, startTests }: typeof authorTests,
): Promise<readonly TestResult[]> {
  const { skills: folder } = await folders();
  const files = await testFilesIn(folder);
  await using tests = files.length > 0 ? await startTests(signal) : undefined;
  const runtime = await openRuntime({ until: "known", store: "none" });
  const tested = localSkills(runtime, names);
  const own = names.length === 0 ? files : files.filter((file) => tested.some((skill) => isBeside(file, skill)));
  const { gate } = await folders(); // with the answer of the user, if opening the runtime has asked
  const examples = runExamples(runtime, tested, signal);
  const ofFiles = tests?.run({ folder, files: own, gate }) ?? Promise.resolve([]);
  const results = await Promise.all([examples, ofFiles]);
  const hasSaved = flags.inspectSkills !== true && runtime.savedSkills.list().length > 0;
  return [...results.flat(), ...(hasSaved ? await testSaved(await openRuntime({ until: "known" }), names) : [])];
}

/** True for `weather.test.ts` beside `weather.ts`, and for a file in `weather/` beside `weather/skill.ts`. */
function isBeside(file: string, { source }: Skill): boolean {
  const [first = ""] = source.split("/");
  return source.includes("/") ? file.startsWith(`${first}/`) : file.split(".")[0] === source.split(".")[0];
}

/** Repeats the runs of saved skills. The results are counted in the project's store, which the other tests do not use. */
async function testSaved({ catalog, savedSkills }: Runtime, names: readonly string[]): Promise<readonly TestResult[]> {
  const skills = savedSkills.list().filter(({ file: { name }, source }) => {
    return catalog.skill(name)?.source === source && (names.length === 0 || names.includes(name));
  });
  const results: TestResult[] = [];
  for (const { file, source } of skills) {
    const failure = await savedSkills.test(file.name);
    const outcome = failure === undefined ? "passed" : "failed";
    const name = `repeats run ${file.run}`;
    results.push({ subject: source, name, outcome, why: failure === undefined ? "" : `${file.name} ${failure}` });
  }
  return results;
}

/** Runs the examples in sequence: some build on the effects of earlier ones. */
async function runExamples(
  runtime: Runtime,
  skills: readonly Skill[],
  signal: AbortSignal,
): Promise<readonly TestResult[]> {
  const results: TestResult[] = [];
  for (const method of skills.flatMap(({ methods }) => methods)) {
    const examples = (method.definition.examples ?? []).flatMap(({ code }) => code ?? []);
    for (const code of examples) results.push(await runExample(runtime, method, code, signal));
  }
  return results;
}

async function runExample(runtime: Runtime, { path }: Method, code: string, signal: AbortSignal): Promise<TestResult> {
  const outcome = await runtime.run(code, { signal });
  const [name = ""] = code.split("\n", 1);
  if (outcome.kind === "completed") return { subject: path, name, outcome: "passed", why: "" };
  const wantsYes = outcome.kind === "failed" && outcome.error.code === "APPROVAL_MISSING";
  if (wantsYes) return { subject: path, name, outcome: "skipped", why: "it needs an approval, which was not given" };
  return { subject: path, name, outcome: "failed", why: `${outcome.text}${formatStack(outcome)}` };
}

/** The stack of the error that the skill threw, on lines of its own. */
function formatStack(outcome: Outcome): string {
  const stack = outcome.kind === "failed" ? findSkillError(outcome.error.cause)?.stack : undefined;
  return stack === undefined ? "" : `\n${stack}`;
}

function resultText({ subject, name, outcome, why }: TestResult, paint: Paint): string {
  const marks = { passed: paint.green("✓"), failed: paint.red("✗"), skipped: paint.dim("–") };
  return lines([`${marks[outcome]} ${subject}${name === "" ? "" : paint.dim(`  ${name}`)}`, indented(why)]);
}

function summaryText(results: readonly TestResult[]): string {
  const having = (kind: TestResult["outcome"]): number => results.filter(({ outcome }) => outcome === kind).length;
  if (results.length === 0) return "Nothing to test: no @example, and no *.test file beside the skills";
  const [failed, skipped] = [having("failed"), having("skipped")];
  return [
    `${count(having("passed"), "test")} passed`,
    failed > 0 ? `${failed} failed` : "",
    skipped > 0 ? `${skipped} skipped` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");
}
