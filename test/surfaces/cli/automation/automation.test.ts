// @module-tag rest

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { createOccurrence } from "../../../../src/automations/index.ts";
import { createRuntime } from "../../../../src/index.ts";
import { openDatabase } from "../../../../src/store/index.ts";
import { type Ended, project, skillgate } from "../command.ts";

export const BOARD_SKILL = `
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** A board of texts. */
export class BoardSkill {
  /**
   * Count the texts.
   * @returns {number}
   * @readonly
   */
  count() { return existsSync("board.txt") ? readFileSync("board.txt", "utf8").split("\\n").length - 1 : 0; }

  /**
   * Post a text.
   * @param {string} text The text
   * @returns {string}
   */
  post(text) { if (text === "bad") throw new Error("no such text"); appendFileSync("board.txt", text + "\\n"); return "posted " + text; }
}
`;

const PROGRAM = `const before = await device.BoardSkill.count();
const posted = await device.BoardSkill.post("morning");
posted + " after " + before`;

interface Project {
  readonly cwd: string;
  readonly automation: (...args: readonly string[]) => Promise<Ended>;
  /** Runs the program, and returns the id of its run. */
  readonly run: () => Promise<string>;
}

async function openProject(): Promise<Project> {
  const cwd = project({ "skills/board.js": BOARD_SKILL, "settings.yaml": "store: { dir: state }\n" });
  await skillgate(["keys", "create", "poster", "--call", "BoardSkill.*"], { cwd });
  return {
    cwd,
    automation: (...args) => skillgate(["automation", ...args], { cwd }),
    async run() {
      await skillgate(["run", "-e", PROGRAM], { cwd });
      const { stdout } = await skillgate(["runs", "list", "--json"], { cwd });
      return (JSON.parse(stdout) as { readonly runs: readonly { readonly id: string }[] }).runs[0]?.id ?? "";
    },
  };
}

const ADD = ["--key", "poster", "--param", "text=morning"];

test("adds a run as an automation, shows and accepts it, and runs it with an input", async () => {
  const { cwd, automation, run } = await openProject();
  const id = await run();
  const times = ["--cron", "0 9 * * MON-FRI", "--zone", "Europe/Berlin"];
  const added = await automation("add", "report", "--run", id.slice(0, 8), ...ADD, ...times);
  expect(added).toEqual({
    exit: 0,
    stdout: `Saved report in automations/report.yaml, and its test in automations/report.cassette.json
It calls BoardSkill.count (read), BoardSkill.post (write)
Test it:   skillgate automation test report
Accept it: skillgate automation accept report
`,
    stderr: "",
  });
  expect(await automation("run", "report")).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining("it was not accepted; accept it with: skillgate automation accept report"),
  });
  const refused = await automation("accept", "report");
  expect(refused).toMatchObject({ exit: 4, stderr: expect.stringContaining("there is no terminal to confirm it at") });
  expect(refused.stderr).toContain("const { text } = await device.input();");
  const accepted = await automation("accept", "report", "--yes");
  expect(accepted).toMatchObject({ exit: 0, stderr: expect.stringContaining("Accepted report") });
  expect(accepted.stdout).toContain("calls     BoardSkill.count: read\n");
  expect(accepted.stdout).toMatch(/next {6}\w{3} \d{4}-\d\d-\d\d 09:00, .* \(Europe\/Berlin\)/);
  const ran = await automation("run", "report", "--input", '{"text": "noon"}');
  expect(ran).toEqual({ exit: 0, stdout: "posted noon after 1\n", stderr: "" });
  expect(readFileSync(join(cwd, "board.txt"), "utf8")).toBe("morning\nnoon\n");
  const shown = await automation("show", "report");
  expect(shown.stdout).toContain("report enabled\n");
  expect(shown.stdout).toContain(
    "schedule  at 09:00, Monday to Friday, in Europe/Berlin; overlap skip, catchUp none\n",
  );
  expect(shown.stdout).toMatch(/manual-\S+ {2}manual {2}completed/);
  const listed = JSON.parse((await automation("list", "--json")).stdout) as object;
  expect(listed).toMatchObject({ automations: [{ name: "report", state: "enabled", last: { state: "completed" } }] });
});

test("says how a run failed, and runs its occurrence again", async () => {
  const { automation, run } = await openProject();
  await automation("add", "report", "--run", await run(), ...ADD);
  await automation("accept", "report", "--yes");
  const failed = await automation("run", "report", "--input", '{"text": "bad"}');
  expect(failed).toMatchObject({ exit: 1, stderr: expect.stringContaining("no such text") });
  const [, occurrence = ""] = /skillgate automation retry report (\S+)/.exec(failed.stderr) ?? [];
  expect((await automation("history", "report")).stdout).toContain(`${occurrence}  manual  failed`);
  expect(await automation("retry", "report", occurrence)).toMatchObject({ exit: 1 });
  expect(await automation("retry", "report", "never")).toMatchObject({
    exit: 5,
    stderr:
      "Cannot find the occurrence: there is no occurrence never (OCCURRENCE_UNKNOWN)\nUse one of the ids of: skillgate automation history NAME\n",
  });
  expect(await automation("retry", "rport", occurrence)).toMatchObject({
    exit: 5,
    stderr: expect.stringContaining("Cannot find the automation: rport; did you mean report? (AUTOMATION_UNKNOWN)"),
  });
  expect(await automation("run", "report", "--input", "{")).toMatchObject({ exit: 2 });
  expect((await automation("list")).stdout).toContain("report  failing");
});

test("pauses, resumes, tests and removes an automation", async () => {
  const { cwd, automation, run } = await openProject();
  await automation("add", "report", "--run", await run(), ...ADD);
  const repeated = await automation("test", "report");
  expect(repeated).toMatchObject({ exit: 0, stdout: "posted morning after 0\n" });
  expect(repeated.stderr).toContain("✓ report makes the recorded calls; nothing was called");
  const diverged = await automation("test", "report", "--input", '{"text": "noon"}');
  expect(diverged).toMatchObject({
    exit: 1,
    stdout: expect.stringMatching(/does something else than recorded: .*line 3/),
  });
  await automation("accept", "report", "--yes");
  const paused = await automation("pause", "report", "--reason", "holiday");
  expect(paused).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^report {2}paused .*holiday\n$/) });
  expect(await automation("run", "report")).toMatchObject({ exit: 6, stderr: expect.stringContaining("holiday") });
  expect(await automation("resume", "report")).toMatchObject({ exit: 0, stdout: expect.stringContaining("enabled") });
  const file = join(cwd, "automations/report.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace('" after "', '" beyond "'));
  expect(await automation("show", "report")).toMatchObject({
    stdout: expect.stringContaining("its file has changed since it was accepted"),
    stderr: expect.stringContaining("Accept it with: skillgate automation accept report"),
  });
  const accepted = await automation("accept", "report", "--yes");
  expect(accepted.stdout).toContain(
    'Since it was accepted:\n  -   posted + " after " + before\n  +   posted + " beyond "',
  );
  expect(await automation("remove", "report")).toMatchObject({ exit: 0, stdout: "Removed report and its history\n" });
  expect(existsSync(file)).toBe(false);
  expect((await automation("list")).stdout).toContain("There are no automations. Make one of a run that worked");
});

test("says which deliveries wait because the runs of an hour are reached", async () => {
  const { cwd, automation } = await openProject();
  writeFileSync(join(cwd, "post.js"), 'await device.BoardSkill.post("x");');
  await automation("add", "report", "post.js", "--key", "poster", "--webhook", "github", "--secret", "${HOOK_SECRET}");
  const file = join(cwd, "automations", "report.yaml");
  writeFileSync(file, `${readFileSync(file, "utf8")}limits: { runsPerHour: 1 }\n`);
  await automation("accept", "report", "--yes");
  const database = await openDatabase({ folder: join(cwd, "state") });
  const now = Date.now();
  for (const id of ["a", "b"]) {
    const row = createOccurrence({ automation: "report", id, kind: "delivery" }, now);
    await database.automations.addOccurrence(
      id === "a" ? { ...row, state: "completed", started: now, ended: now } : row,
    );
  }
  await database.close();
  const next = `${new Date(now + 3_600_000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  const text = `1 delivery waits: 1 run an hour is reached; the next begins at ${next}`;
  expect((await automation("show", "report")).stdout).toContain(`  ${text}\n`);
  expect((await automation("list")).stdout).toContain(text.slice(0, 40));
  const listed = JSON.parse((await automation("list", "--json")).stdout) as object;
  expect(listed).toMatchObject({
    automations: [{ waiting: { deliveries: 1, runsPerHour: 1, next: now + 3_600_000 } }],
  });
});

test("saves a program without a run, and names what is wrong", async () => {
  const { cwd, automation, run } = await openProject();
  writeFileSync(join(cwd, "count.js"), "await device.BoardSkill.count()");
  const added = await automation("add", "counter", "count.js", "--key", "absent", "--every", "5m");
  expect(added).toMatchObject({ exit: 0, stderr: expect.stringContaining("there is no key absent; create it:") });
  expect(await automation("add", "counter", "count.js", "--key", "poster")).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("automations/counter.yaml already exists; choose another name"),
  });
  expect(await automation("add", "counter", "count.js", "--key", "poster", "--force")).toMatchObject({ exit: 0 });
  expect(await automation("shwo")).toMatchObject({ exit: 2, stderr: expect.stringContaining("did you mean show?") });
  expect(await automation("show", "countr")).toMatchObject({ exit: 5, stderr: expect.stringContaining("counter") });
  expect(await automation("test", "counter")).toMatchObject({
    exit: 1,
    stdout: expect.stringContaining("it has no cassette, because it was not saved from a run"),
  });
  for (const [args, message] of [
    [["add", "x"], "Give either a program file, or --run"],
    [["add", "x", "count.js"], "write --key KEY"],
    [
      ["add", "x", "count.js", "--key", "poster", "--cron", "0 9 * * *"],
      "--zone is missing, and cron names certain hours",
    ],
    [["add", "x", "count.js", "--key", "poster", "--webhook", "github"], "--webhook github --secret"],
  ] as const)
    expect(await automation(...args), args.join(" ")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(message),
    });
  const id = await run();
  const saved = await skillgate(["save", id, "--as", "automation", "--name", "report", ...ADD], { cwd });
  expect(saved).toMatchObject({ exit: 0, stdout: expect.stringContaining("Saved report in automations/report.yaml") });
  const skill = await skillgate(["save", id, "--as", "skill", "--name", "post-it", "--param", "text=morning"], { cwd });
  expect(skill).toMatchObject({ exit: 0, stdout: expect.stringContaining("Saved PostItSkill.run(text)") });
  expect(await skillgate(["save", id, "--as", "skill", "--name", "y", "--every", "5m"], { cwd })).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining("--every is for an automation"),
  });
});

test("writes the schedule and the limits that flags give, and names a wrong flag", async () => {
  const { cwd, automation } = await openProject();
  writeFileSync(join(cwd, "count.js"), "await device.BoardSkill.count()");
  const add = (...flags: readonly string[]): Promise<Ended> =>
    automation("add", "counter", "count.js", "--key", "poster", ...flags);
  const until = "2099-01-01T00:00:00Z";
  const schedule = ["--every", "5m", "--jitter", "30s", "--until", until, "--catch-up", "one", "--overlap", "queue"];
  expect(await add(...schedule, "--runs-per-hour", "10", "--calls", "20", "--minutes", "30")).toMatchObject({
    exit: 0,
  });
  const { schedule: times, limits } = parse(readFileSync(join(cwd, "automations/counter.yaml"), "utf8")) as {
    readonly schedule: object;
    readonly limits: object;
  };
  expect(times).toEqual({ every: "5m", overlap: "queue", catchUp: "one", jitter: "30s", until });
  expect(limits).toEqual({ runsPerHour: 10, calls: 20, minutes: 30 });
  for (const [flags, message] of [
    [
      ["--every", "5m", "--jitter", "10m"],
      '--jitter "10m" is longer than the time between two slots; write at most 5m',
    ],
    [["--every", "5m", "--until", "2099-01-01"], '--until "2099-01-01" is not a time'],
    [["--every", "5s"], "--every "],
    [["--every", "5m", "--catch-up", "some"], '--catch-up is "some"'],
    [["--every", "5m", "--cron", "* * * * *"], "write either --cron or --every, not both"],
    [["--jitter", "5m"], "--jitter is for a schedule: write --cron"],
    [["--runs-per-hour", "10001"], "--runs-per-hour must be a whole number from 1 to 10000"],
    [["--calls", "10001"], "--calls must be a whole number from 1 to 10000"],
    [["--minutes", "121"], "--minutes must be a whole number from 1 to 120"],
    [["--calls", "many"], "--calls <number>"],
  ] as const)
    expect(await add("--force", ...flags), flags.join(" ")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(message),
    });
  const help = (await automation("add", "--help")).stdout.replaceAll(/\s+/g, " ");
  expect(help).toContain("other signatures are described in the file");
});

test("shows, accepts and removes proposals of models, and doctor counts the states", async () => {
  const { cwd, automation } = await openProject();
  const runtime = await createRuntime({ cwd, store: join(cwd, "state"), automations: { proposals: true } });
  const proposal = { description: "Counts", program: "await device.BoardSkill.count()", schedule: { every: "1h" } };
  await runtime.automations.propose({ name: "counter", ...proposal });
  await runtime.automations.propose({ name: "other", ...proposal });
  await runtime.close();
  const shown = await automation("show", "counter");
  expect(shown.stdout).toContain("counter proposed: a person must accept it");
  expect(shown.stderr).toContain("It cannot run as it is: there is no key counter; create it:");
  const refused = await automation("accept", "counter", "--key", "poster");
  expect(refused).toMatchObject({ exit: 4 });
  expect(refused.stderr).toContain("Its file:\n");
  expect(refused.stderr).toContain("key: poster\n");
  expect(await automation("accept", "counter", "--key", "poster", "--yes")).toMatchObject({ exit: 0 });
  expect(readFileSync(join(cwd, "automations/counter.yaml"), "utf8")).toContain("key: poster\n");
  expect(await automation("run", "counter")).toMatchObject({ exit: 0, stdout: "0\n" });
  expect(await automation("accept", "counter", "--key", "poster")).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining("change its key in automations/counter.yaml"),
  });
  const checked = await skillgate(["doctor"], { cwd });
  expect(checked.stdout).toContain(
    "! Automations: 1 enabled, 1 proposed\n    other: proposed, a person must accept it\n",
  );
  expect(await automation("remove", "other")).toMatchObject({ exit: 0 });
  writeFileSync(join(cwd, "settings.yaml"), "store: { dir: state }\nruns: { record: off }\n");
  expect((await skillgate(["doctor"], { cwd })).stdout).toContain(
    "runs.record is off in the settings: no automation runs",
  );
});
