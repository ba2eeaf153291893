import { waitForTurn } from "../../../sandbox/index.ts";
import type { SkillgateError } from "../../errors.ts";
import type { Cassette, StoredCall } from "../../runs/index.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { createSaveError } from "./parameterize.ts";

/** UTF-16 units of the arguments and answers of a record: it becomes a file beside the skill. */
const MAX_RECORD_UNITS = 4 << 20;

/** UTF-16 units of the JSON of its input: that becomes the example of the arguments. */
const MAX_INPUT_UNITS = 256 << 10;

/** Masks the secrets of a record, in several turns of the event loop. Throws `SAVE_INVALID` for a large one. */
export async function maskRecord(cassette: Cassette, secrets: KnownSecrets): Promise<Cassette> {
  requireSmall(cassette);
  const { header, calls, ...others } = cassette;
  const masked: StoredCall[] = [];
  for (const call of calls) {
    await waitForTurn();
    masked.push(secrets.maskTexts(call));
  }
  await waitForTurn();
  const ownHeader = secrets.maskTexts(header);
  await waitForTurn();
  return { ...secrets.maskTexts(others), header: ownHeader, calls: masked };
}

function requireSmall({ header, calls, outcome }: Cassette): void {
  const input = header.input === undefined ? 0 : JSON.stringify(header.input).length;
  if (input > MAX_INPUT_UNITS) throw createSizeError("its input has", input, MAX_INPUT_UNITS);
  const answers = calls.reduce((sum, call) => sum + countUnits(call), 0);
  const record = answers + (outcome?.value?.json.length ?? 0);
  if (record > MAX_RECORD_UNITS)
    throw createSizeError("the arguments and results of its calls have", record, MAX_RECORD_UNITS);
}

function countUnits({ args, answer }: StoredCall): number {
  if (answer === undefined) return args.length;
  return args.length + (answer.ok ? answer.json : JSON.stringify(answer.error)).length;
}

function createSizeError(what: string, units: number, most: number): SkillgateError {
  return createSaveError(`${what} ${units} characters, at most ${most} are allowed: save a run with less data`);
}
