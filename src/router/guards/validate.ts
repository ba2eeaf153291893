import type { Method } from "../../model/catalog.ts";
import type { Validator } from "../../validation/index.ts";
import { requireInput, type Guard } from "../call.ts";

/** Lets through what fits the method's schema. A result that does not fit is noted where that is news, and kept. */
export function validate(validator: Validator, shouldReport: (method: Method) => boolean): Guard {
  return (next) => async (call) => {
    requireInput(call);
    const checked = call.validation();
    if (checked.kind === "valid") for (const note of checked.notes) call.addNote(note);
    const answer = await next(call);
    const problem = answer.cached ? undefined : validator.validateOutput(call.method, answer.value);
    if (problem !== undefined && shouldReport(call.method)) call.addNote(problem);
    return answer;
  };
}
