import { parseCassette } from "../runs/index.ts";
import { createRuntime } from "../runtime.ts";

/**
 * Executes the program of a recorded run again with the recorded answers, without its providers. Rejects with `REPLAY_DIVERGED`,
 * which names the first difference, and with `RUN_DAMAGED` for a cassette that cannot be read.
 */
export async function replayCassette(cassette: unknown): Promise<void> {
  await using runtime = await createRuntime({ skillsDir: false, skills: [], workers: 1, runs: { record: "off" } });
  await runtime.runs.replay(parseCassette(cassette));
}
