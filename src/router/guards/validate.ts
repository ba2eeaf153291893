import type { Method } from "../../model/catalog.ts";
import type { Validator } from "../../validation/index.ts";
import { inputOf, type Guard } from "../call.ts";

/** Lets through what fits the method's schema. A result that does not fit is noted where that is news, and kept. */
export function validate(validator: Validator, isNews: (method: Method) => boolean): Guard {
  return (next) => async (call) => {
    inputOf(call);
    const checked = call.validation();
    if (checked.kind === "valid") for (const note of checked.notes) call.note(note);
    const answer = await next(call);
    const problem = answer.cached ? undefined : validator.validateOutput(call.method, answer.value);
    if (problem !== undefined && isNews(call.method)) call.note(problem);
    return answer;
  };
}
