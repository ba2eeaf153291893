import { isRecord } from "../../../../model/json.ts";
import type { Failure } from "../messages.ts";

/** More of a message tells nobody more. */
const MAX_CHARACTERS = 16_384;

/** What can be told of whatever was thrown. Reading it may throw in its turn: a skill can throw anything. */
export function toFailure(thrown: unknown): Failure {
  try {
    if (!(thrown instanceof Error))
      return { name: "Error", message: toText(thrown).slice(0, MAX_CHARACTERS), stack: "" };
    const { name, stack }: { readonly name: unknown; readonly stack?: unknown } = thrown;
    const code: unknown = Reflect.get(thrown, "code");
    return {
      name: String(name),
      message: formatMessage(thrown).slice(0, MAX_CHARACTERS),
      stack: String(stack).slice(0, MAX_CHARACTERS),
      ...(typeof code === "string" && { code }),
    };
  } catch {
    // A getter of the error threw, or it is no text at all.
    return { name: "Error", message: "an error that cannot be read", stack: "" };
  }
}

/** `throw "text"` and `throw { message: "text" }` say what they mean; of anything else, what it is. */
function toText(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (isRecord(thrown) && typeof thrown["message"] === "string") return thrown["message"];
  if (typeof thrown === "object" && thrown !== null) return `threw ${JSON.stringify(thrown)}, which is no error`;
  return `threw ${typeof thrown === "function" ? "a function" : String(thrown)}, which is no error`;
}

const MAX_CAUSES = 3;

/** With the messages of what an error was made of: of `fetch failed`, only the cause tells why. */
function formatMessage(error: Error, depth = 0): string {
  const { name, message, cause }: { readonly name: unknown; readonly message: unknown; readonly cause?: unknown } =
    error;
  const own = String(message) || getCode(error) || String(name);
  const parts = error instanceof AggregateError && Array.isArray(error.errors) ? error.errors : [cause];
  const reasons = parts.filter((each) => each instanceof Error).slice(0, MAX_CAUSES);
  if (depth === MAX_CAUSES || reasons.length === 0) return own;
  const why = [...new Set(reasons.map((each) => formatMessage(each, depth + 1)))].join("; ");
  return own.includes(why) ? own : `${own}: ${why}`;
}

function getCode(error: Error): string {
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" ? code : "";
}
