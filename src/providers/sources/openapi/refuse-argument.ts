import { createError, type SkillgateError } from "../../../errors.ts";
import { hasControls } from "./header-text.ts";
import { quote } from "../../../shared/format-text.ts";

/** Creates the error for an argument that cannot be sent: `"owner" is "..": write …`. */
export function refuseArgument(argument: string, flaw: string): SkillgateError {
  return createError("ARGUMENTS_INVALID", `${quote(argument)} ${flaw}`, {
    argument,
  });
}

/** Throws for a media type of an argument that would end the header that it is written in. */
export function requireMediaType(argument: string, mediaType: string | undefined): void {
  if (mediaType !== undefined && hasControls(mediaType))
    throw refuseArgument(argument, "has a contentType with a line break or a control character; write a media type");
}
