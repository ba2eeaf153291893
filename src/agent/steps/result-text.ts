/** The result of a program or a tool call, as the model reads it. */
export interface StepText {
  readonly text: string;
  readonly isError: boolean;
}

const NEXT_AFTER_SUCCESS = "Answer the user from this result, or send one more program if something is missing.";
const NEXT_AFTER_ERROR =
  "Fix what the message says and send the whole program again, or tell the user why it cannot be done.";

/** Formats a result for a model that answers with programs in fences. */
export function formatToolResult(name: string, { text, isError }: StepText): string {
  const heading = `[Tool Result: ${name} — ${isError ? "ERROR" : "SUCCESS"}]`;
  return `${heading}\n${text}\n\n${isError ? NEXT_AFTER_ERROR : NEXT_AFTER_SUCCESS}`;
}
