import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import type { Runtime, RuntimeOptions } from "../../../../src/index.ts";
import type { Caller } from "../../../../src/model/caller.ts";
import { parseCassette } from "../../../../src/runs/index.ts";
import { startProject } from "./project.ts";
import { TRACKER } from "./tracker.ts";

const ADA: Caller = { id: "ada", permissions: ["call:TrackerGraph.query:issue"] };

const write = (comment: string): string =>
  `${comment}\nconst { issue } = await device.TrackerGraph.query({ query: \`{ issue(number: 1) { title } }\` });\nreturn issue.title;`;

/** Records a run, and opens the runtime again with a schema that does not have the field any more. */
async function recordAndChange(): Promise<{ readonly run: string; readonly runtime: Runtime }> {
  const { open, cwd } = await startProject();
  const options: RuntimeOptions = { store: join(cwd, "store"), runs: { record: "full" } };
  const first = await open({}, options);
  const outcome = await first.run(write("// the first text"), { caller: ADA });
  expect(outcome).toMatchObject({ kind: "completed", value: "Issue 1" });
  await first.close();
  writeFileSync(join(cwd, "tracker.graphql"), TRACKER.replace("title: String!\n    state", "name: String!\n    state"));
  const runtime = await open({}, options);
  expect((await runtime.run(write(""), { caller: ADA })).text).toContain('Cannot query field "title"');
  return { run: outcome.runId, runtime };
}

test("a recorded run is repeated with its texts, whatever the schema has become [S5]", { tags: "rest" }, async () => {
  const { run, runtime } = await recordAndChange();
  const cassette = await runtime.runs.cassette(run);
  const methods = runtime.catalog.skill("TrackerGraph")?.methods.map(({ definition }) => definition);
  const skills = [{ name: "TrackerGraph", kind: "api", methods }];
  const saved = parseCassette(
    JSON.parse(JSON.stringify({ ...cassette, format: "skillgate-cassette-2", skills })) as unknown,
  );
  for (const each of [run, cassette, saved])
    expect(await runtime.runs.replay(each)).toMatchObject({ kind: "completed", value: "Issue 1" });
  // Another text of the program is compared by its calls, which are the recorded ones.
  const source = write("// the second text");
  for (const each of [run, cassette, saved])
    expect(await runtime.runs.replay(each, { source })).toMatchObject({ kind: "completed", value: "Issue 1" });
  await expect(runtime.runs.replay(run, { source: source.replace("number: 1", "number: 2") })).rejects.toMatchObject({
    code: "REPLAY_DIVERGED",
  });
});
