import type { Failure } from "./messages.ts";

/** More of a message tells nobody more. */
const LONGEST = 16_384;

/** What can be told of whatever was thrown. Reading it may throw in its turn: a skill can throw anything. */
export function failureOf(thrown: unknown): Failure {
  try {
    if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown).slice(0, LONGEST), stack: "" };
    const [name, message, stack, code] = ["name", "message", "stack", "code"].map((field): unknown =>
      Reflect.get(thrown, field),
    );
    return {
      name: String(name),
      message: (String(message) || String(name)).slice(0, LONGEST),
      stack: String(stack).slice(0, LONGEST),
      ...(typeof code === "string" && { code }),
    };
  } catch {
    // A getter of the error threw, or it is no text at all.
    return { name: "Error", message: "an error that cannot be read", stack: "" };
  }
}
