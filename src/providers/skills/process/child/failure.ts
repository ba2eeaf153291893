import { isRecord } from "../../../../model/json.ts";
import type { Failure } from "../messages.ts";

/** Length limit of a message and a stack. */
const MAX_CHARACTERS = 16_384;

/** Describes a thrown value. A skill can throw anything, so reading the value may throw too. */
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
    // A getter of the error threw, or a member cannot be converted to text.
    return { name: "Error", message: "an error that cannot be read", stack: "" };
  }
}

/** Returns the text of `throw "text"` and `throw { message: "text" }`; describes any other value. */
function toText(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  if (isRecord(thrown) && typeof thrown["message"] === "string") return thrown["message"];
  if (typeof thrown === "object" && thrown !== null) return `threw ${JSON.stringify(thrown)}, which is not an Error`;
  return `threw ${typeof thrown === "function" ? "a function" : String(thrown)}, which is not an Error`;
}

const MAX_CAUSES = 3;

/** Appends the messages of the causes: of `fetch failed`, only the cause gives the reason. */
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
