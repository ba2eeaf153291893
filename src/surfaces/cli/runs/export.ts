import { sentence, SkillgateError } from "../../../errors.ts";
import type { Cassette } from "../../../runs/index.ts";
import type { Runtime } from "../../../runtime.ts";
import type { CommandResult } from "../command.ts";
import { writeLines, writeNewFile } from "../input/write-files.ts";
import type { CliSession } from "../session.ts";
import { shortened, shownPath } from "../text/layout.ts";
import { findRun, openRuns } from "./find-run.ts";

export interface RunExportFlags {
  readonly out?: string;
  readonly test?: string;
}

/** Writes a run with its secrets masked. */
export async function exportRun(
  session: CliSession,
  id: string,
  { out, test }: RunExportFlags,
): Promise<CommandResult> {
  const runtime = await openRuns(session);
  const run = await findRun(runtime, id);
  const cassette = runtime.secrets.maskTexts(await runtime.runs.cassette(run.id));
  if (test === undefined) {
    await writeLines(toLines(cassette), out);
    return {
      json: { run: run.id },
      text: out === undefined ? "" : `Wrote run ${run.id} to ${shownPath(out)}`,
    };
  }
  await requireRepeatable(runtime, cassette);
  await writeNewFile(test, createTest(cassette));
  const text = `Wrote a test of run ${run.id} to ${shownPath(test)}. It needs none of the run's providers`;
  return { json: { run: run.id, test }, text };
}

async function* toLines(cassette: Cassette): AsyncGenerator<string> {
  yield JSON.stringify(cassette, null, 2);
}

/** A test compares the masked run with itself. Throws `RUN_INCOMPLETE` if that is not possible. */
async function requireRepeatable({ runs }: Runtime, cassette: Cassette): Promise<void> {
  const why = await findObstacle(runs, cassette);
  if (why !== undefined) throw new SkillgateError("RUN_INCOMPLETE", sentence("RUN_INCOMPLETE", why));
}

async function findObstacle(runs: Runtime["runs"], cassette: Cassette): Promise<string | undefined> {
  if (cassette.outcome === undefined) return `run ${cassette.run} has no outcome`;
  try {
    await runs.replay(cassette);
    return undefined;
  } catch (error) {
    if (!(error instanceof SkillgateError)) throw error;
    return `with its secrets masked, run ${cassette.run} is not the same (${error.message})`;
  }
}

const MAX_TITLE_UNITS = 120;

function createTest(cassette: Cassette): string {
  const title = shortened(cassette.header.source.trim(), MAX_TITLE_UNITS);
  return `// Repeats a recorded run without its providers: skillgate skills test
import { test } from "node:test";
import { replayCassette } from "skillgate/testing";

const CASSETTE = ${JSON.stringify(cassette, null, 2)};

test(${JSON.stringify(`repeats: ${title}`)}, () => replayCassette(CASSETTE));
`;
}
