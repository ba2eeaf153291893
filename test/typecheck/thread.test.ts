import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, expect, test } from "vitest";

import {
  createTypecheck,
  shareTypecheck,
  MAX_STARTS,
  type Typecheck,
  type TypecheckOptions,
  type TypecheckResult,
} from "../../src/typecheck/index.ts";
import { repetitions } from "../support/repetitions.ts";
import { DECLARATIONS } from "./samples.ts";

const WRONG = { code: "device.MathSkill.add(1, 'x')", declarations: DECLARATIONS, deadlineMs: 20_000 };

const FOUND: TypecheckResult = {
  kind: "checked",
  diagnostics: [
    {
      code: "ARGUMENT_TYPE",
      start: 24,
      end: 27,
      message: `"b" of MathSkill.add must be a number, not "x"`,
      certain: true,
      suggestions: [],
    },
  ],
};

/** A type of a few lines that takes the compiler hours to write into a message. */
const BOMB = {
  code: `${["const v0 = { x: 1 };", ...Array.from({ length: 60 }, (_, i) => `const v${i + 1} = { l: v${i}, r: v${i} };`)].join("\n")}
device.WebSkill.search("x".replace(v60, v60));`,
  declarations: DECLARATIONS,
};

/** Serves the tests that do not end its thread: the compiler takes a second to load. */
const shared = createTypecheck();
afterAll(() => shared.close());

const typechecks: Typecheck[] = [];
afterEach(() => Promise.all(typechecks.splice(0).map((typecheck) => typecheck.close())));

function opened(options?: TypecheckOptions): Typecheck {
  const typecheck = createTypecheck(options);
  typechecks.push(typecheck);
  return typecheck;
}

test("skips a check while the compiler loads, and makes it afterwards [S5]", async () => {
  expect(await shared.check(WRONG)).toEqual({ kind: "skipped", why: "cold" });
  expect(await shared.warmUp()).toBe(true);
  expect(await shared.check(WRONG)).toEqual(FOUND);
});

test(
  "skips a check that exceeds its deadline, and replaces its thread as often as it may start [S7]",
  { tags: "rest" },
  async () => {
    const maxStarts = repetitions(2, 3, MAX_STARTS);
    const typecheck = opened({ limitMs: 1_000, maxStarts });
    for (let start = 1; start <= maxStarts; start++) {
      expect(await typecheck.warmUp()).toBe(true);
      expect(await typecheck.check(WRONG)).toEqual(FOUND);
      const waiting = typecheck.check(BOMB);
      const behind = typecheck.check(WRONG);
      expect(await waiting).toEqual({ kind: "skipped", why: "late" });
      expect(await behind).toEqual({ kind: "skipped", why: "crashed" });
    }
    expect(await typecheck.warmUp()).toBe(false);
    expect(await typecheck.check(WRONG)).toEqual({ kind: "skipped", why: "crashed" });
  },
);

test(
  "ends an idle thread, and starts it again for the next check, as often as needed [S7]",
  { tags: "rest", timeout: 120_000 },
  async () => {
    const typecheck = opened({ idleMs: 50, maxStarts: 1 });
    for (let round = 0; round < repetitions(1, 2, 6); round++) {
      expect(await typecheck.warmUp()).toBe(true);
      if (round === 0) expect(await typecheck.check(WRONG)).toEqual(FOUND);
      await expect.poll(() => typecheck.isWarm, { timeout: 10_000 }).toBe(false);
    }
    expect(await typecheck.check(WRONG)).toEqual({ kind: "skipped", why: "cold" });
    expect(await typecheck.warmUp()).toBe(true);
  },
);

test("checks the next program after the compiler has failed on one [S7]", async () => {
  await shared.warmUp();
  const deep = { ...WRONG, code: `${"(".repeat(30_000)}1${")".repeat(30_000)}` };
  expect(await shared.check(deep)).toEqual({ kind: "skipped", why: "crashed" });
  expect(await shared.check(WRONG)).toEqual(FOUND);
});

test("skips code and declarations that are too long [S7]", async () => {
  await shared.warmUp();
  const long = { ...WRONG, code: `const text = "${"x".repeat(70_000)}"; ${WRONG.code}` };
  expect(await shared.check(long)).toEqual({ kind: "skipped", why: "large" });
  expect(await shared.check({ ...WRONG, declarations: " ".repeat(3_000_000) })).toEqual({
    kind: "skipped",
    why: "large",
  });
});

test("runs the newest of several waiting checks first [S5]", async () => {
  await shared.warmUp();
  const order: number[] = [];
  const numbered = (n: number): Promise<unknown> => shared.check(WRONG).then(() => order.push(n));
  await Promise.all([1, 2, 3, 4].map(numbered));
  expect(order).toEqual([1, 4, 3, 2]);
});

test("answers waiting checks when it is closed, and makes no more [S5]", { tags: "rest" }, async () => {
  const typecheck = opened();
  await typecheck.warmUp();
  const waiting = [typecheck.check(WRONG), typecheck.check(WRONG)];
  await typecheck.close();
  expect((await Promise.all(waiting)).map((result) => result.kind)).toEqual(["skipped", "skipped"]);
  expect(await typecheck.check(WRONG)).toEqual({ kind: "skipped", why: "closed" });
  expect(await typecheck.warmUp()).toBe(false);
});

test(
  "shares one compiler among all runtimes of a process, and closes it with the last of them [S5]",
  { tags: "rest" },
  async () => {
    const [first, second] = [shareTypecheck(), shareTypecheck()];
    typechecks.push(first, second);
    expect(await first.warmUp()).toBe(true);
    expect(second.isWarm).toBe(true);
    await first.close();
    await first.close();
    expect(await first.check(WRONG)).toEqual({ kind: "skipped", why: "closed" });
    expect(await second.check({ ...WRONG, deadlineMs: 20_000 })).toMatchObject({ kind: "checked" });
    await second.close();
    const next = shareTypecheck();
    typechecks.push(next);
    expect(next.isWarm).toBe(false);
  },
);

test("skips all checks without the compiler [S5]", { tags: "rest" }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-typecheck-"));
  try {
    cpSync("dist/src/typecheck", join(folder, "src/typecheck"), { recursive: true });
    cpSync("dist/src/model", join(folder, "src/model"), { recursive: true });
    cpSync("dist/src/shared", join(folder, "src/shared"), { recursive: true });
    cpSync("dist/lib", join(folder, "lib"), { recursive: true });
    cpSync("dist/sandbox", join(folder, "sandbox"), { recursive: true });
    cpSync("dist/src/errors.js", join(folder, "src/errors.js"));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
    const door = pathToFileURL(join(folder, "src/typecheck/index.js")).href;
    const { createTypecheck: createThere } = (await import(door)) as { createTypecheck: typeof createTypecheck };
    const typecheck = createThere();
    typechecks.push(typecheck);
    expect(await typecheck.warmUp()).toBe(false);
    expect(await typecheck.check(WRONG)).toEqual({ kind: "skipped", why: "missing" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("does not keep a program alive for an idle thread [S5]", { tags: "rest" }, () => {
  const script = `
    const { createTypecheck } = await import(${JSON.stringify(pathToFileURL("dist/src/typecheck/index.js").href)});
    const typecheck = createTypecheck();
    await typecheck.warmUp();
    console.log((await typecheck.check({ code: "1", declarations: "", deadlineMs: 20_000 })).kind);
  `;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    encoding: "utf8",
    timeout: 25_000,
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "checked\n" });
});

test("allows no await at the top of a thread's module, where ending it would abort the process [S5]", () => {
  const entries = ["sandbox/worker.cjs", "lib/typecheck-worker.js", "src/providers/skills/process/child/watchdog.js"];
  const texts = entries.map((entry) => readFileSync(new URL(`../../dist/${entry}`, import.meta.url), "utf8"));
  expect(texts.filter(awaitsAtTheTop)).toEqual([]);
  expect(awaitsAtTheTop("const port = 1;\nconst tool = await load();\n")).toBe(true);
});

/** What is compiled for a thread has whatever is in functions indented. */
const awaitsAtTheTop = (text: string): boolean => /^\S.*\bawait\b/m.test(text.replace(/^(?:\/\/| \*|\/\*).*$/gm, ""));

test("ends a compiler at any moment while it loads [S5]", { tags: "rest", timeout: 60_000 }, () => {
  const entry = new URL("../../dist/src/typecheck/worker.js", import.meta.url).href;
  const moments = repetitions(30, 30, 100);
  const program = `
    import { Worker } from "node:worker_threads";
    for (let moment = 0; moment < ${moments}; moment++) {
      const worker = new Worker(new URL(${JSON.stringify(entry)}), { execArgv: [] });
      await new Promise((resolve) => setTimeout(resolve, 20 + (50 * moment) / ${moments}));
      await worker.terminate();
    }`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});
