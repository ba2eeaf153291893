import { SkillgateError } from "../errors.ts";

/** Returns the kind of an error for `error.type`: the code of a `SkillgateError` or of a protocol error, else its class. */
export function getErrorType(thrown: unknown): string {
  if (thrown instanceof SkillgateError) return thrown.code;
  if (!(thrown instanceof Error)) return "_OTHER";
  const code = "code" in thrown ? thrown.code : undefined;
  if (typeof code === "number" && Number.isInteger(code)) return String(code);
  return /^\w{1,80}$/.test(thrown.name) ? thrown.name : "_OTHER";
}
