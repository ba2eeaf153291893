import { join } from "node:path";

import { getMessage, SkillgateError } from "../../../errors.ts";
import type { Outcome } from "../../../model/outcome.ts";
import { checkInput } from "../../execution/run-header.ts";
import type { RunReplays } from "../../execution/replay.ts";
import { readCassette } from "../../saved/test-saved.ts";
import { requireFile } from "../life.ts";
import type { AuthoringParts } from "./parts.ts";

/** The result of a test with recorded answers. */
export type AutomationTest =
  /** Its program makes the recorded calls, and the recorded outcome unless it has another input. */
  | { readonly kind: "passed"; readonly outcome: Outcome | undefined }
  /** `why` names the first difference, with its line. */
  | { readonly kind: "diverged"; readonly why: string }
  /** There is no record to test it with. */
  | { readonly kind: "untested"; readonly why: string };

interface TestParts extends Pick<AuthoringParts, "files" | "settings"> {
  readonly replay: RunReplays["replay"];
}

/**
 * Executes the program of an automation with the recorded answers of its run: nothing is called. Throws `AUTOMATION_UNKNOWN`,
 * `AUTOMATION_INVALID`, `INPUT_INVALID` for an input that does not match its schema.
 */
export async function testAutomation(
  name: string,
  input: unknown,
  { files, settings, replay }: TestParts,
): Promise<AutomationTest> {
  await files.refresh();
  const { file } = requireFile(name, files);
  if (input !== undefined && file.input !== undefined) checkInput(input, file.input);
  if (file.cassette === undefined)
    return { kind: "untested", why: "it has no cassette, because it was not saved from a run" };
  let cassette: Awaited<ReturnType<typeof readCassette>>;
  try {
    cassette = await readCassette(join(settings.automationsDir, file.cassette), file.cassette);
  } catch (error) {
    return { kind: "untested", why: getMessage(error) };
  }
  try {
    return { kind: "passed", outcome: await replay(cassette, { source: file.source, input }) };
  } catch (error) {
    if (error instanceof SkillgateError) return { kind: "diverged", why: error.message };
    throw error;
  }
}
