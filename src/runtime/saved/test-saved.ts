import { lstat, readFile } from "node:fs/promises";

import { getMessage } from "../../errors.ts";
import type { SavedModule } from "../../providers/skills/index.ts";
import { parseCassette } from "../../runs/index.ts";
import type { RunReplays } from "../execution/replay.ts";

const MAX_CASSETTE_BYTES = 64 << 20;

/**
 * Executes the program of a saved skill with the recorded answers of its run, without providers. Returns why it does not
 * do what the run did; `undefined` if it does.
 */
export async function testSavedSkill(
  { file, cassettePath }: SavedModule,
  runs: RunReplays,
): Promise<string | undefined> {
  try {
    const cassette = await readCassette(cassettePath, file.cassette);
    await runs.replay(cassette, { source: file.source });
    return undefined;
  } catch (error) {
    return `failed its test: ${getMessage(error)}`;
  }
}

/** Reads a cassette. Throws an error with a sentence. */
export async function readCassette(path: string, name: string): Promise<ReturnType<typeof parseCassette>> {
  const facts = await lstat(path).catch(() => undefined);
  if (facts?.isFile() !== true) throw new Error(`its cassette ${name} is missing`);
  if (facts.size > MAX_CASSETTE_BYTES)
    throw new Error(`its cassette ${name} has more than ${MAX_CASSETTE_BYTES} bytes`);
  const text = await readFile(path, "utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`its cassette ${name} is no JSON: ${getMessage(error)}`, { cause: error });
  }
  return parseCassette(value);
}
