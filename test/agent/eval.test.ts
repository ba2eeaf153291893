import { spawn } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callCode, callTool, sayText, serveReplies } from "../support/agent.ts";
import { ended, type Ended, environment, type Place, project } from "../surfaces/cli/command.ts";
import { type RunCommand, runCommandInProcess } from "../surfaces/cli/command-line.ts";

const EVALS = resolve("evals");

const TASKS = readdirSync(EVALS).flatMap((name) => (name.endsWith(".yaml") ? [name.slice(0, -5)] : []));

interface EvalAnswer {
  readonly model: string;
  readonly results: readonly {
    readonly task: string;
    readonly variant: string;
    readonly runs: readonly {
      readonly passed: boolean;
      readonly problems: readonly string[];
      readonly turns: number;
      readonly calls: number;
    }[];
  }[];
  readonly total: Readonly<Record<string, { readonly passed: number; readonly runs: number; readonly cost?: number }>>;
}

const BUNDLE = resolve(".cache", `eval-test-${process.pid}.mjs`);

beforeAll(async () => {
  const options = { bundle: true, format: "esm", platform: "node", packages: "external", target: "node20" } as const;
  await build({ entryPoints: ["evals/tool/run-evaluation.ts"], outfile: BUNDLE, logLevel: "warning", ...options });
});
afterAll(() => rmSync(BUNDLE, { force: true }));

/** Runs the evaluation within the process of the test. */
function runEval(args: readonly string[], { cwd, env }: Place): Promise<Ended> {
  const { runEvaluation } = createRequire(import.meta.url)(BUNDLE) as { readonly runEvaluation: RunCommand };
  return runCommandInProcess(args, { cwd, env: environment(cwd, env), input: "" }, runEvaluation);
}

async function evaluate(args: readonly string[], place: Place) {
  const { exit, stdout, stderr } = await runEval([...args, "--json"], place);
  return { exit, stderr, answer: (stdout === "" ? undefined : JSON.parse(stdout)) as EvalAnswer };
}

describe("the tasks in evals/", () => {
  test("ten tasks ship", () => expect(TASKS).toHaveLength(10));

  test("are solved by their scripts, in both ways [G1, G3]", { tags: "rest", timeout: 120_000 }, async () => {
    const { exit, answer } = await evaluate([EVALS, "--model", "scripted"], { cwd: project() });
    const problems = answer.results.flatMap(({ runs }) => runs.flatMap((run) => run.problems));
    expect({ exit, problems }).toEqual({ exit: 0, problems: [] });
    expect(answer.results.map(({ task, variant }) => `${task} ${variant}`)).toEqual(
      TASKS.flatMap((task) => [`${task} programs`, `${task} plain`]),
    );
    expect(answer.total).toMatchObject({ programs: { runs: 10, passed: 10 }, plain: { runs: 10, passed: 10 } });
  });

  test("are read by npm run eval [G1]", { tags: "rest" }, async () => {
    const cwd = project();
    const args = [resolve("scripts/eval.mjs"), "gone.yaml"];
    const { exit, stderr } = await ended(spawn(process.execPath, args, { cwd, env: environment(cwd), stdio: "pipe" }));
    expect(exit).toBe(2);
    expect(stderr).toContain('Cannot read the tasks in "gone.yaml": ENOENT');
  });

  test("are not solved by a model that does nothing [G1]", { tags: "rest", timeout: 120_000 }, async () => {
    const cwd = project({ "idle.yaml": "- I cannot do this.\n" });
    const { exit, answer } = await evaluate([EVALS, "--no-plain", "--model", "scripted:idle.yaml"], { cwd });
    expect(exit).toBe(1);
    expect(answer.results.filter(({ runs }) => runs[0]?.problems.length === 0)).toEqual([]);
    expect(answer.total).toMatchObject({ programs: { runs: 10, passed: 0 } });
  });
});

const SHOP = `/** Sells things. */
export class ShopSkill {
  #sold = [];
  /**
   * List prices.
   * @readonly
   */
  prices() { return { tea: 3, cake: 5 }; }
  /**
   * Sell a thing.
   * @param {string} name
   * @approval user
   */
  sell(name) { return this.#sold.push(name); }
  /**
   * List what was sold.
   * @readonly
   */
  sold() { return this.#sold; }
}`;

const TASK = `request: Sell a cake.
skills: shop
approve: true
check:
  answer: { contains: [sold, cake], lacks: tea, matches: '^the' }
  json: { price: 5 }
  called: { ShopSkill.sell: 1 }
  notCalled: [ShopSkill.p*]
  approvals: 1
  effects: 1
  files: { note.txt: absent }
  afterwards: { code: device.ShopSkill.sold(), equals: [cake] }
`;

const SELL = "- code: await device.ShopSkill.sell('cake')\n";
const ANSWER = `- 'The cake is sold: {"price": 5}'\n`;

/** A project with a task and the script of a model. */
function evalProject(script: string, task = TASK): string {
  return project({ "tasks/shop/shop.js": SHOP, "tasks/sell.yaml": task, "script.yaml": script });
}

const MODEL = ["--model", "scripted:script.yaml", "--no-plain"];

test("prints turns, tokens and seconds, and the cost where the price is known [G1]", { tags: "rest" }, async () => {
  const cwd = evalProject(
    SELL.trimEnd() + "\n  usage: { input: 1000, output: 200 }\n" + ANSWER.replace("- ", "- text: "),
  );
  const args = ["tasks", ...MODEL, "--runs", "2"];
  const { exit, stdout } = await runEval([...args, "--price", "3,15"], { cwd });
  expect(exit).toBe(0);
  expect(stdout.replaceAll(/[\d,]+ in|[\d,]+ out/g, "1 token").replaceAll(/\d+\.\d+/g, "1.0")).toBe(
    "Model: scripted:script.yaml\nsell\n  programs 2 of 2  4 turns  1 token   1 token 1.0 1.0 s\n",
  );
  expect((await runEval(args, { cwd })).stdout).not.toMatch(/\d\.\d{4}/);
  writeFileSync(join(cwd, "settings.yaml"), "agent: { price: { input: 1000000, output: 0 } }\n");
  const { answer } = await evaluate(["tasks", ...MODEL], { cwd });
  expect(answer.total["programs"]).toMatchObject({ runs: 1, passed: 1 });
  expect(answer.total["programs"]?.cost).toBeGreaterThan(1_000);
});

test.each([
  [
    "wrong words",
    SELL + `- 'Tea was bought: {"price": 4}'\n`,
    [
      'the answer must contain "sold"; it is "Tea was bought: {\\"price\\": 4}"',
      'the answer must contain "cake"; it is "Tea was bought: {\\"price\\": 4}"',
      'the answer must not contain "tea"; it is "Tea was bought: {\\"price\\": 4}"',
      'the answer must match ^the; it is "Tea was bought: {\\"price\\": 4}"',
      'the answer must have the JSON {"price":5}; its JSON is {"price":4}',
    ],
  ],
  [
    "no call",
    ANSWER,
    [
      "ShopSkill.sell: there must be 1 successful call; there were 0",
      "approvals: there must be 1 question; there were 0",
      "effects: there must be 1 effect; there were 0",
      'the value of afterwards must be ["cake"]; it is []',
    ],
  ],
  [
    "a forbidden call",
    `- code: await device.ShopSkill.prices(); await device.ShopSkill.sell("cake")\n${ANSWER}`,
    ["ShopSkill.p* must not be called; there were 1 calls"],
  ],
])("says which conditions do not hold: %s [G1]", { tags: "rest" }, async (_what, script, problems) => {
  const { exit, answer } = await evaluate(["tasks", ...MODEL], { cwd: evalProject(script) });
  expect({ exit, problems: answer.results[0]?.runs[0]?.problems }).toEqual({ exit: 1, problems });
});

test("denies calls unless the task approves them [P6]", { tags: "rest" }, async () => {
  const cwd = evalProject(SELL + ANSWER, TASK.replace("approve: true\n", ""));
  const { answer } = await evaluate(["tasks", ...MODEL], { cwd });
  expect(answer.results[0]?.runs[0]?.problems).toEqual([
    "ShopSkill.sell: there must be 1 successful call; there were 0",
    "effects: there must be 1 effect; there were 0",
    'the value of afterwards must be ["cake"]; it is []',
  ]);
});

test.each([
  ["request: Sell\nchek: {}\n", "line 2, column 1: Unknown field of a task: chek; did you mean check?"],
  ["check: { effects: 1 }\n", "line 1, column 1: request is missing; write the text that the model gets"],
  ["request: Sell\n", "line 1, column 1: check is missing; write some of answer, json, called"],
  ["request: Sell\ncheck:\n  answer: cake\n", "line 3, column 3: answer must be conditions such as { contains: Ada }"],
  ["request: Sell\ncheck:\n  answer: { matches: '(' }\n", "line 3, column 3: answer must be conditions such as"],
  ["request: Sell\ncheck:\n  efects: 1\n", "line 3, column 3: Unknown field of a check: efects; did you mean effects?"],
  ["request: Sell\napprove: yes\ncheck: { json: 1 }\n", "line 2, column 1: approve must be true or false"],
  ["request: Sell\nfiles: gone\ncheck: { json: 1 }\n", "line 2, column 1: files must be a folder that each run gets"],
  ["request: [\n", "line 2, column 1: "],
])("reports the place of a mistake in a task: %j [G1]", { tags: "rest" }, async (text, message) => {
  const { exit, stderr } = await runEval(["tasks", ...MODEL], { cwd: evalProject(SELL, text) });
  expect(exit).toBe(2);
  expect(stderr).toContain(`tasks/sell.yaml ${message}`);
});

test(
  "reports folders without tasks, tasks without scripts, and fixtures that cannot be used [G1]",
  { tags: "rest" },
  async () => {
    const cwd = evalProject(SELL, TASK.replace("skills: shop", "servers: { gone: { command: no-such-command } }"));
    const fail = async (...args: string[]): Promise<string> => (await runEval(args, { cwd })).stderr;
    expect(await fail("tasks/shop", ...MODEL)).toContain(
      'No tasks found in "tasks/shop"; a task is a file that ends in',
    );
    expect(await fail("gone.yaml", ...MODEL)).toContain('Cannot read the tasks in "gone.yaml": ENOENT');
    expect(await fail("tasks", "--model", "scripted")).toContain("tasks/sell.yaml has no script for programs; write");
    expect(await fail("tasks")).toContain("(MODEL_MISSING)");
    const { exit, answer } = await evaluate(["tasks", ...MODEL], { cwd });
    expect(exit).toBe(1);
    expect(answer.results[0]?.runs[0]?.problems.join()).toMatch(/^fixture .*no-such-command/);
  },
);

test.each(["openai", "anthropic"] as const)(
  "asks a model over HTTP, in both ways: %s [G1, G3]",
  { tags: "rest" },
  async (wire) => {
    const program = `const issues = await device.TrackerSkill.listIssues({ state: "open" });
const counts = {};
for (const { assignee } of issues) counts[assignee] = (counts[assignee] ?? 0) + 1;
counts`;
    const counts = '{"ada": 8, "bob": 4, "eve": 4, "kim": 4}';
    await using server = await serveReplies([
      callCode(program),
      sayText(counts),
      callTool("TrackerSkill__listIssues", '{"state": "open"}'),
      sayText(counts),
    ]);
    const env = {
      [`${wire.toUpperCase()}_BASE_URL`]: `${server.url}/v1`,
      [`${wire.toUpperCase()}_API_KEY`]: "sk-own-key-of-the-owner",
    };
    const args = [join(EVALS, "group.yaml"), "--model", `${wire}:test-model`];
    const { exit, answer } = await evaluate(args, { cwd: project(), env });
    expect({ exit, model: answer.model }).toEqual({ exit: 0, model: `${wire}:test-model` });
    expect(answer.results.map(({ variant, runs }) => [variant, runs[0]?.turns, runs[0]?.calls])).toEqual([
      ["programs", 2, 1],
      ["plain", 2, 1],
    ]);
    const tools = server.requests().map((request) => request.tools?.map((tool) => tool.function.name));
    expect(tools[0]).toContain("run_code");
    expect(tools[2]).toEqual(["TrackerSkill__listIssues"]);
  },
);
