import { asksForResponse, type Method } from "../../model/catalog.ts";
import { waitForTurn } from "../../../sandbox/index.ts";
import type { Validator } from "../../validation/index.ts";
import { requireInput, type Guard } from "../call.ts";

/** Refuses invalid arguments. A result that does not match its schema is returned with a note, if it deserves one. */
export function validate(validator: Validator, shouldReport: (method: Method) => boolean): Guard {
  return (next) => async (call) => {
    const start = waitForTurn();
    if (start !== undefined) await start;
    const checked = call.validation();
    // The digest of arguments that took long to check takes long, too.
    const pause = waitForTurn();
    if (pause !== undefined) await pause;
    requireInput(call);
    if (checked.kind === "valid") for (const note of checked.notes) call.addNote(note);
    const answer = await next(call);
    const isUndescribed = answer.cached || asksForResponse(call.method, call.args);
    const problem = isUndescribed ? undefined : validator.validateOutput(call.method, answer.value);
    if (problem !== undefined && shouldReport(call.method)) call.addNote(problem);
    return answer;
  };
}
