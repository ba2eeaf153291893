import { type ErrorCode, type ErrorFacts, type ServerError, sentence, SkillgateError } from "../errors.ts";
import { isPlainObject } from "../model/arguments.ts";
import type { Skill } from "../model/catalog.ts";
import { isRecord } from "../model/json.ts";
import { getMethodFacts, type GuardedCall } from "./call.ts";
import { splitRemoteSkill } from "../shared/names/method-paths.ts";
import { REMOTE_CODES } from "../shared/remote-errors.ts";
import type { KnownSecrets } from "../shared/secrets.ts";
import { explainEngineError } from "./engine-errors.ts";
import { redact } from "./redact.ts";

const MAX_SEARCHED_VALUES = 1_000;
const MAX_ARGUMENT_TEXTS = 200;
const MAX_ARGUMENT_TEXT_CHARACTERS = 4_096;

/**
 * Converts a value that a provider threw into the error for the guest: one redacted message and the method. The original
 * value is the `cause`, for the host only. `hide` replaces the values that the caller sees as placeholders.
 */
export function toGuestError(
  thrown: unknown,
  { method, skill, args, attempts }: GuardedCall,
  secrets: KnownSecrets,
  hide: (value: unknown) => unknown,
): SkillgateError {
  const original = getThrownText(thrown);
  const mistake = explainEngineError(original);
  const words = mistake === undefined ? original : sentence("CALL_FAILED", `"${method.path}" ${mistake}`);
  const text = redact(words, { argumentTexts: collectArgumentTexts(args), secrets });
  const facts = {
    ...getMethodFacts(method),
    ...(skill.server !== undefined && { server: skill.server }),
    ...(skill.kind === "mcp" && { tool: method.wireName }),
    ...(skill.kind === "node" ? getRemoteFacts(thrown, skill.name) : getServerError(thrown, secrets, hide)),
  };
  const message = `${text || `${method.path} failed`}${attempts.count > 1 ? " (tried twice)" : ""}`;
  return new SkillgateError(toErrorCode(thrown, skill), message, facts, { cause: thrown });
}

/** Returns what an MCP server or an API says about its error, without secrets. */
function getServerError(
  thrown: unknown,
  secrets: KnownSecrets,
  hide: (value: unknown) => unknown,
): Pick<ErrorFacts, "serverError"> {
  const serverError = thrown instanceof SkillgateError ? thrown.facts.serverError : undefined;
  return serverError === undefined ? {} : { serverError: secrets.maskTexts(hide(serverError) as ServerError) };
}

/** Codes that a provider may set itself. Any other code would look as if it came from the router or the run. */
const PROVIDER_CODES: ReadonlySet<ErrorCode> = new Set([
  "ACCOUNT_MISSING",
  "ACCOUNT_RECONNECT",
  "ACCOUNT_SCOPES",
  "ACCOUNT_UNAVAILABLE",
  "CALL_FAILED",
  "CALL_TIMEOUT",
  "NESTING_LIMIT",
  "NODE_ANSWER_INVALID",
  "NODE_GONE",
  "NODES_FAILED",
  "NODES_OFFLINE",
  "SERVER_GONE",
  "SESSION_VALUE_INVALID",
  "SESSION_VALUE_MISSING",
  "SKILL_CHANGED",
]);

/** Codes that an API may set in addition: for a value that no request can hold, and for a query that its schema does not have. */
const API_CODES: ReadonlySet<ErrorCode> = new Set(["ARGUMENTS_INVALID", "QUERY_INVALID", "QUERY_UNCHECKED"]);

function toErrorCode(thrown: unknown, { kind }: Pick<Skill, "kind">): ErrorCode {
  if (!(thrown instanceof SkillgateError)) return "CALL_FAILED";
  const { code } = thrown;
  if (kind === "api" && API_CODES.has(code)) return code;
  return PROVIDER_CODES.has(code) || (kind === "node" && REMOTE_CODES.has(code)) ? code : "CALL_FAILED";
}

/** Returns the machine that made the error, and the seconds after which it takes the call. */
function getRemoteFacts(thrown: unknown, skill: string): ErrorFacts {
  const { device, retryAfterSeconds } = thrown instanceof SkillgateError ? thrown.facts : {};
  return {
    device: typeof device === "string" ? device : splitRemoteSkill(skill)?.device,
    ...(typeof retryAfterSeconds === "number" && { retryAfterSeconds }),
  };
}

/** Returns the message of the thrown value, or the code of a system error without a message. Never throws. */
export function getThrownText(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (!isRecord(thrown)) return "";
  try {
    const texts = [thrown["message"], thrown["code"]].filter((text) => typeof text === "string");
    return texts.find((text) => text !== "") ?? "";
  } catch {
    return ""; // A hostile error has a getter that throws.
  }
}

/** Collects the texts that the guest passed, up to the limits on count and length. */
function collectArgumentTexts(args: readonly unknown[]): readonly string[] {
  const texts: string[] = [];
  const pending: unknown[] = [args];
  for (let visits = 0; visits < MAX_SEARCHED_VALUES && pending.length > 0; visits++) {
    const next = pending.pop();
    if (typeof next === "string" && next.length <= MAX_ARGUMENT_TEXT_CHARACTERS) texts.push(next);
    else if (Array.isArray(next) || isPlainObject(next))
      pending.push(...Object.values(next).slice(0, MAX_SEARCHED_VALUES));
  }
  return texts.slice(0, MAX_ARGUMENT_TEXTS);
}
