import { type ErrorCode, ERRORS, messageOf, sentence, SkillgateError } from "../../errors.ts";
import { EXIT_CODES, type Exit, exitOfError } from "./exit-codes.ts";
import { errorText } from "./output.ts";
import type { Answer, Terminal } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** The answer of a command that could not give one: why, in a sentence. The stack is for who asks for it. */
export function faultAnswer(thrown: unknown, { paint, debug }: Terminal): Answer {
  const { exit, code, message, fix, facts } = faultOf(thrown);
  const stack = debug && thrown instanceof Error ? (thrown.stack ?? "") : "";
  return {
    exit,
    json: { error: { code, message, ...(fix !== "" && { fix }), ...facts } },
    text: "",
    remarks: errorText({ message, hint: fix }, paint.err),
    asides: stack,
  };
}

/** What a command says that was interrupted before it had an answer. */
export function interruptedAnswer(exit: Exit, { paint }: Terminal): Answer {
  const message = sentence("CANCELLED", EXIT_CODES[exit].says);
  return {
    exit,
    json: { error: { code: "CANCELLED", message } },
    text: "",
    remarks: errorText({ message, hint: "" }, paint.err),
  };
}

interface Fault {
  readonly exit: Exit;
  readonly code: ErrorCode | "USAGE" | "INTERNAL";
  readonly message: string;
  /** What to do now; empty where the message says it. */
  readonly fix: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

function faultOf(thrown: unknown): Fault {
  if (thrown instanceof UsageError) {
    const { message, suggestions } = thrown;
    return { exit: "usage", code: "USAGE", message, fix: "", facts: { suggestions } };
  }
  if (thrown instanceof SkillgateError) {
    const { code, message, facts } = thrown;
    // Whoever threw it may know better than the table what to do.
    const { fix = ERRORS[code].fix, ...others } = facts;
    return { exit: exitOfError(code), code, message, fix: String(fix), facts: others };
  }
  const message = `Cannot go on after a fault of Skillgate's own: ${messageOf(thrown)}`;
  return {
    exit: "failed",
    code: "INTERNAL",
    message,
    fix: "Run it again with --debug to see where, and report it",
    facts: {},
  };
}
