import type { Failure } from "./messages.ts";

/** What can be told of whatever was thrown. Reading it may throw in its turn: a skill can throw anything. */
export function failureOf(thrown: unknown): Failure {
  try {
    if (!(thrown instanceof Error)) return { name: "Error", message: String(thrown), stack: "" };
    const [name, message, stack, code] = ["name", "message", "stack", "code"].map((field): unknown =>
      Reflect.get(thrown, field),
    );
    return {
      name: String(name),
      message: String(message) || String(name),
      stack: String(stack),
      ...(typeof code === "string" && { code }),
    };
  } catch {
    // A getter of the error threw, or it is no text at all.
    return { name: "Error", message: "an error that cannot be read", stack: "" };
  }
}
