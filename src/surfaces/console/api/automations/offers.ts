import { sentence, SkillgateError } from "../../../../errors.ts";
import type { RuntimeView } from "../../../../runtime/api/view.ts";
import type { AutomationOfferDetail } from "../../automation-messages.ts";

/** The part of an automation that a caller may accept. */
export interface ReadOffer {
  readonly offer: AutomationOfferDetail | undefined;
  readonly problem: string | null;
  readonly isHidden: boolean;
}

/** Reads what can be accepted now. A file that cannot be used has a problem instead. */
export async function readOffer(
  name: string,
  view: RuntimeView,
  options?: { readonly key?: string; readonly text?: string },
): Promise<ReadOffer> {
  try {
    const { file, review, difference, text, digest, flaw } = await view.automations.offer(name, options);
    const isHidden = !view.automations.seesProgram(review);
    const { source } = file;
    const offer = { text, digest, source, calls: review.calls, difference, flaw: flaw ?? null };
    return { offer, problem: null, isHidden };
  } catch (error) {
    const isExpected =
      error instanceof SkillgateError && ["AUTOMATION_INVALID", "AUTOMATION_UNKNOWN"].includes(error.code);
    if (!isExpected) throw error;
    return { offer: undefined, problem: error.message, isHidden: !view.automations.seesProgram(undefined) };
  }
}

/** True if the caller may see the errors and the inputs of an automation. */
export async function seesContent(name: string, view: RuntimeView): Promise<boolean> {
  return view.automations.seesProgram(undefined) || !(await readOffer(name, view)).isHidden;
}

export function createHiddenError(name: string): SkillgateError {
  return new SkillgateError("RUN_HIDDEN", sentence("RUN_HIDDEN", `the automation ${name}`));
}
