import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";

import { createKeys, readKeyUsage, toCaller } from "../../src/keys/index.ts";
import { createSharedCounter } from "../../src/router/index.ts";
import { getCallerBucket, openDatabase } from "../../src/store/index.ts";
import { project, skillgate } from "../surfaces/cli/command.ts";
import { folder, post, serve } from "../surfaces/serving.ts";

test("tells what a key used: calls, refusals, runs, replays, checks, limits and methods [P1, P5]", async () => {
  const cwd = project();
  const { url, runtime } = await serve({}, { store: join(cwd, "state"), audit: "store" }, () => false);
  const database = await runtime.database();
  const keys = createKeys(database);
  const { text, key } = await keys.create({ name: "ada", permissions: ["call:*"], limits: { perHour: 20 } });
  const header = { authorization: `Bearer ${text}` };
  const run = (code: string) => post(`${url}/tools/run_code`, { code }, header);
  await run("await device.TestSkill.add(1, 2); await device.TestSkill.add(2, 2)");
  await run("await device.TestSkill.fail()");
  await run("await device.TestSkill.rare(); await device.TestSkill.rare()");
  const caller = toCaller(key);
  const view = runtime.viewFor(caller);
  await view.check("1 + 1");
  const [newest] = await view.runs.list();
  await view.runs.replay(newest?.id ?? "");
  await runtime.close(); // the last records of calls are written
  await using store = await openDatabase({ folder: join(cwd, "state") });
  const used = await readKeyUsage(store, caller);
  const times = (count: number) => ({ minute: count, hour: count, day: count });
  expect(used).toEqual({
    limits: [{ period: "hour", used: 6, limit: 20 }],
    calls: times(4),
    refused: times(1),
    runs: times(2),
    replays: times(1),
    checks: times(1),
    methods: [
      { path: "TestSkill.add", calls: 2 },
      { path: "TestSkill.fail", calls: 1 },
      { path: "TestSkill.rare", calls: 1 },
    ],
    audit: "complete",
  });
  writeFileSync(join(cwd, "settings.yaml"), "store: { dir: state }\n");
  const shown = await skillgate(["keys", "show", "ada"], { cwd });
  expect(shown.stdout.slice(shown.stdout.indexOf("  used in"))).toBe(
    [
      "  used in the last  minute  hour  day",
      "  calls             4       4     4",
      "  refused           1       1     1",
      "  runs              2       2     2",
      "  replays           1       1     1",
      "  checks            1       1     1",
      "  6 of 20 requests in the last hour",
      "  most called in the last day: TestSkill.add 2, TestSkill.fail 1, TestSkill.rare 1",
      "",
    ].join("\n"),
  );
  const json = JSON.parse((await skillgate(["keys", "show", "ada", "--json"], { cwd })).stdout) as object;
  expect(json).toMatchObject({ used });
});

test("counts a use of a moment ago also at the beginning of a minute [P1, P5]", async () => {
  await using database = await openDatabase({ folder: join(folder(), "state") });
  const limits = { perMinute: 20 };
  for (let second = 0; second < 60; second += 1) {
    const time = Date.UTC(2026, 0, 1, 12, 0, second) + 999;
    const counter = createSharedCounter(
      () => Promise.resolve(database),
      () => time,
    );
    const id = `key ${second}`;
    await counter.note(getCallerBucket("replay", id));
    await counter.take([{ key: getCallerBucket("minute", id), maxCalls: limits.perMinute, lengthMs: 60_000 }]);
    const usage = await readKeyUsage(database, { id, limits }, time + 59_000);
    expect({ second, replays: usage.replays.minute, used: usage.limits[0]?.used }).toEqual({
      second,
      replays: 1,
      used: 1,
    });
  }
});

test("lists a key with the words of earlier versions by what they mean today, with the line to write [P2]", async () => {
  const cwd = project();
  writeFileSync(join(cwd, "settings.yaml"), "store: { dir: state }\n");
  await skillgate(["keys", "create", "old", "--permission", "call:*"], { cwd });
  {
    await using database = await openDatabase({ folder: join(cwd, "state") });
    const [key] = await database.keys.list();
    await database.keys.update(key?.id ?? "", { permissions: ["ToolInvoke(MathSkill.*)", "AdminWrite"] });
  }
  const { stdout, stderr } = await skillgate(["keys", "list"], { cwd });
  expect(stdout).toContain("active  call:MathSkill.* admin:AnswerApprovals admin:ManageRuns  never used\n");
  expect(stderr).toBe(
    "old: ToolInvoke(MathSkill.*), AdminWrite are written call:MathSkill.*, admin:AnswerApprovals, admin:ManageRuns today; " +
      "changing servers and skills now needs admin:ManageServers, by name\n",
  );
});
