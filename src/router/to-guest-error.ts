import { type ErrorCode, sentence, SkillgateError } from "../errors.ts";
import { isPlainObject } from "../model/arguments.ts";
import { isRecord } from "../model/json.ts";
import { getMethodFacts, type GuardedCall } from "./call.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import { explainEngineError } from "./engine-errors.ts";
import { redact } from "./redact.ts";

const MAX_SEARCHED_VALUES = 1_000;
const MAX_ARGUMENT_TEXTS = 200;
const MAX_ARGUMENT_TEXT_CHARACTERS = 4_096;

/**
 * What a guest is told of whatever a provider threw: one message, redacted, and which method it was. Nothing else crosses;
 * the error itself is the `cause`, for the host's own eyes.
 */
export function toGuestError(
  thrown: unknown,
  { method, skill, args }: GuardedCall,
  secrets: KnownSecrets,
): SkillgateError {
  const said = toText(thrown);
  const mistake = explainEngineError(said);
  const words = mistake === undefined ? said : sentence("CALL_FAILED", `"${method.path}" ${mistake}`);
  const text = redact(words, { spoken: collectArgumentTexts(args), secrets });
  const facts = {
    ...getMethodFacts(method),
    ...(skill.server !== undefined && { server: skill.server }),
    ...(skill.kind === "mcp" && { tool: method.wireName }),
  };
  return new SkillgateError(toErrorCode(thrown), text || `${method.path} failed`, facts, { cause: thrown });
}

/** What a provider may say itself. All else would look as if the router, or the run, had said it. */
const PROVIDER_CODES: ReadonlySet<ErrorCode> = new Set(["CALL_FAILED", "CALL_TIMEOUT", "NESTING_LIMIT", "SERVER_GONE"]);

function toErrorCode(thrown: unknown): ErrorCode {
  return thrown instanceof SkillgateError && PROVIDER_CODES.has(thrown.code) ? thrown.code : "CALL_FAILED";
}

/** The message of whatever was thrown, the code of a system error without one; reading it never throws. */
function toText(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (!isRecord(thrown)) return "";
  try {
    const texts = [thrown["message"], thrown["code"]].filter((text) => typeof text === "string");
    return texts.find((text) => text !== "") ?? "";
  } catch {
    return ""; // A getter of a hostile error.
  }
}

/** The texts that the guest passed: not all of very many, and none that are long. */
function collectArgumentTexts(args: readonly unknown[]): readonly string[] {
  const spoken: string[] = [];
  const pending: unknown[] = [args];
  for (let visits = 0; visits < MAX_SEARCHED_VALUES && pending.length > 0; visits++) {
    const next = pending.pop();
    if (typeof next === "string" && next.length <= MAX_ARGUMENT_TEXT_CHARACTERS) spoken.push(next);
    else if (Array.isArray(next) || isPlainObject(next))
      pending.push(...Object.values(next).slice(0, MAX_SEARCHED_VALUES));
  }
  return spoken.slice(0, MAX_ARGUMENT_TEXTS);
}
