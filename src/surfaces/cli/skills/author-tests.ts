import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";

import { getMessage } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { describeHeld } from "../../../model/provider.ts";
import { compileModule, ModuleFiles } from "../../../providers/skills/index.ts";
import type { SessionFolders } from "../session.ts";
import { LAST_LINE } from "./test-reporter.ts";
import { withoutOwnSecrets } from "../../../shared/process/child-environment.ts";

/** The result of one test or one example. */
export interface TestResult {
  /** The file of the test, or the path of the method. */
  readonly subject: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** The reason why it failed or was skipped; empty otherwise. */
  readonly why: string;
}

/** Finds `*.test.*` and `*.spec.*` files in a skills folder and its direct subfolders, as paths relative to it. */
export async function testFilesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const inner = entries.filter((entry) => entry.isDirectory() && !/^[._]|^node_modules$/.test(entry.name));
  const deeper = await Promise.all(
    inner.map(async ({ name }) => (await readdir(join(folder, name))).map((file) => `${name}/${file}`)),
  );
  const files = [...entries.filter((entry) => entry.isFile()).map(({ name }) => name), ...deeper.flat()];
  return files.filter((file) => /\.(?:test|spec)\.[cm]?[jt]s$/.test(file)).sort();
}

/** A process in which tests run. Its end removes what was written for it. */
export interface TestProcess extends AsyncDisposable {
  /** Runs test files with Node's test runner, once. Bundles each first, so that `skillgate` means this installation. */
  readonly run: (files: TestFiles) => Promise<readonly TestResult[]>;
}

/** Starts the process before its files are known: loading the library takes it as long as reading the skills takes this one. */
export async function startTests(signal: AbortSignal): Promise<TestProcess> {
  const tempDir = await realpath(await mkdtemp(join(tmpdir(), "skillgate-test-")));
  const entry = join(tempDir, "all.mjs");
  await writeFile(entry, ENTRY);
  const child = spawnTests(entry, signal);
  const texts = Promise.all([text(child.stdout), text(child.stderr)]);
  return {
    async run({ folder, files, gate }) {
      const root = await realpath(folder);
      const results = await Promise.all(
        files.map((file, index) => make({ root, file, folder: tempDir, stem: String(index) }, gate)),
      );
      const bundles = new Map(results.flatMap((each) => ("bundle" in each ? [[each.bundle, each.file] as const] : [])));
      const refused = results.flatMap((each) => ("outcome" in each ? [each] : []));
      if (bundles.size === 0) return refused;
      child.stdin.end(JSON.stringify([...bundles.keys()]));
      const [output, stderr] = await texts;
      return [...refused, ...readResults(output, stderr, bundles)];
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await rm(tempDir, { recursive: true, force: true });
    },
  };
}

/** The tests of a folder of skills, and what decides which files may run. */
interface TestFiles extends Pick<SessionFolders, "gate"> {
  readonly folder: string;
  readonly files: readonly string[];
}

interface TestFile {
  readonly root: string;
  readonly file: string;
  /** The folder of the bundle. */
  readonly folder: string;
  readonly stem: string;
}

interface TestBundle {
  readonly file: string;
  readonly bundle: string;
}

async function make(
  { root, file, folder, stem }: TestFile,
  gate: SessionFolders["gate"],
): Promise<TestBundle | TestResult> {
  const entry = join(root, file);
  const source = await readFile(entry, "utf8");
  const [, runner] = /\bfrom\s+["'](vitest|@jest\/globals|bun:test)["']/.exec(source) ?? [];
  if (runner !== undefined) {
    return { subject: file, name: "", outcome: "skipped", why: `it uses ${runner}; run it with ${runner}` };
  }
  try {
    const sources = new ModuleFiles();
    const files = compileModule({ entry, root, own: OWN, sources }).createFiles(stem);
    const why = await gate?.whyHeld([...sources.digests]);
    if (why !== undefined) return { subject: file, name: "", outcome: "skipped", why: describeHeld("it", why) };
    await Promise.all(files.map(({ name, text }) => writeFile(join(folder, name), text)));
    return { file, bundle: join(folder, files[0]?.name ?? "") };
  } catch (error) {
    return { subject: file, name: "", outcome: "failed", why: getMessage(error) };
  }
}

const OWN = {
  skillgate: fileURLToPath(new URL("../../../index.js", import.meta.url)),
  "skillgate/testing": fileURLToPath(new URL("../../../testing/index.js", import.meta.url)),
};

const REPORTER = new URL("test-reporter.js", import.meta.url).href;

/**
 * A module that imports all test files, whose names are its input: one process runs their tests, one after the other. Most files
 * begin with `testSkill`, which waits for the process of the skills, so they are imported together. The library is loaded while
 * the files are still read.
 */
const ENTRY = `import { readFileSync } from "node:fs";
import { test } from "node:test";
import ${JSON.stringify(pathToFileURL(OWN["skillgate/testing"]).href)};
const load = (bundle) => import(bundle).catch((error) => void test(bundle, () => Promise.reject(error)));
await Promise.all(JSON.parse(readFileSync(0, "utf8")).map(load));
`;

function spawnTests(entry: string, signal: AbortSignal): ChildProcessWithoutNullStreams {
  // The server token would let the tests act as a client.
  const env = withoutOwnSecrets(process.env);
  const child = spawn(process.execPath, ["--enable-source-maps", `--test-reporter=${REPORTER}`, entry], {
    env,
    signal,
    killSignal: "SIGTERM",
  });
  // The signal stops it; the caller reports that.
  child.on("error", () => {});
  child.stdin.on("error", () => {}); // it has ended, which its output shows
  return child;
}

function readResults(output: string, stderr: string, bundles: ReadonlyMap<string, string>): readonly TestResult[] {
  const lines = output.split("\n");
  const files = [...bundles.values()];
  const results = lines
    .flatMap((line) => parseLine(line, bundles) ?? [])
    .toSorted((a, b) => files.indexOf(a.subject) - files.indexOf(b.subject));
  if (!lines.includes(LAST_LINE)) return [...results, ...describeEarlyEnd(results, files, stderr)];
  if (results.length > 0) return results;
  return files.map((file) => ({ subject: file, name: "", outcome: "skipped", why: "it has no tests" }));
}

/** The tests of some files did not run: the process ended before. */
function describeEarlyEnd(
  results: readonly TestResult[],
  files: readonly string[],
  stderr: string,
): readonly TestResult[] {
  const open = files.filter((file) => !results.some(({ subject }) => subject === file));
  const why = stderr.trim() === "" ? "a test ended the process before all tests had run" : stderr.trim();
  return (open.length > 0 ? open : files.slice(-1)).map((file) => ({
    subject: file,
    name: "",
    outcome: "failed",
    why,
  }));
}

/** Parses one line of the reporter; `undefined` for other output of the tests. */
function parseLine(line: string, bundles: ReadonlyMap<string, string>): TestResult | undefined {
  if (!line.startsWith("{")) return undefined;
  const event: unknown = JSON.parse(line);
  if (!isRecord(event)) return undefined;
  const { name, file, passed, skipped, error } = event;
  if (typeof name !== "string" || typeof file !== "string") return undefined;
  // The test of a file whose code outside of all tests failed has the name of its bundle.
  const whole = bundles.get(name);
  // With source maps, the reporter names the original file.
  const subject =
    whole ?? bundles.get(file) ?? [...bundles.values()].find((each) => file.endsWith(`/${each}`)) ?? basename(file);
  const outcome = skipped === true ? "skipped" : passed === true ? "passed" : "failed";
  const why = typeof error === "string" ? error : "";
  return { subject, name: whole === undefined ? name : "", outcome, why };
}
