import { type ErrorCode, getMessage, sentence, SkillgateError } from "../../errors.ts";
import type { CommandResult } from "./command.ts";
import { errorToExit, type Exit, EXIT_CODES } from "./exit-codes.ts";
import type { Terminal } from "./terminal/terminal.ts";
import { lines } from "./text/layout.ts";
import { errorText, getOwnerFix, interruptionText, showPaths, skillStackText } from "./text/output.ts";
import { UsageError } from "./usage-error.ts";

/** The result of a command that failed: the reason in a sentence, and the stack with `--debug`. */
export function createErrorResult(
  thrown: unknown,
  { paint, debug }: Pick<Terminal, "paint" | "debug">,
  isTerminal = process.stderr.isTTY,
): CommandResult {
  const { exit, code, message, fix, facts } = toErrorDetails(thrown);
  const stack = debug && thrown instanceof Error ? (thrown.stack ?? "") : "";
  return {
    exit,
    json: { error: { code, message, ...(fix !== "" && { fix }), ...facts } },
    text: "",
    remarks: errorText(
      {
        message: isTerminal ? showPaths(message, thrown instanceof SkillgateError ? thrown.cause : undefined) : message,
        hint: fix,
      },
      paint.err,
    ),
    asides: lines([skillStackText(thrown, paint.err), stack]),
  };
}

/** The result of a command that was interrupted before it had one. */
export function createInterruptedResult(exit: Exit, { paint }: Terminal): CommandResult {
  const message = sentence("CANCELLED", EXIT_CODES[exit].says);
  return {
    exit,
    json: { error: { code: "CANCELLED", message } },
    text: "",
    remarks: interruptionText(exit, paint.err),
  };
}

interface ErrorDetails {
  readonly exit: Exit;
  readonly code: ErrorCode | "USAGE" | "INTERNAL";
  readonly message: string;
  /** The next step for the user; empty if the message contains it. */
  readonly fix: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

function toErrorDetails(thrown: unknown): ErrorDetails {
  if (thrown instanceof UsageError) {
    const { message, suggestions } = thrown;
    return { exit: "usage", code: "USAGE", message, fix: "", facts: { suggestions } };
  }
  if (thrown instanceof SkillgateError) {
    const { code, message, facts } = thrown;
    // A fix in the error itself is more specific than the one in the table.
    const { fix = getOwnerFix(code), ...others } = facts;
    return { exit: errorToExit(code), code, message, fix: String(fix), facts: others };
  }
  const message = `Internal error of Skillgate: ${getMessage(thrown)}`;
  return {
    exit: "failed",
    code: "INTERNAL",
    message,
    fix: "Run the command again with --debug, and report the stack trace",
    facts: {},
  };
}
