/** The used fields of an event of Node's test runner. */
interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name?: string;
    readonly file?: string;
    readonly skip?: unknown;
    readonly todo?: unknown;
    readonly details?: {
      readonly type?: string;
      readonly error?: { readonly cause?: unknown; readonly message?: string };
    };
  };
}

/** The line after all tests. It is missing if the process ends before. */
export const LAST_LINE = '{"end":true}';

/** A reporter for Node's test runner: one line of JSON for each finished test, including tests in groups. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file, skip, todo, details } = data;
    // A group fails only with its tests, which have lines of their own.
    if (details?.type === "suite") continue;
    const { cause, message = "it failed" } = details?.error ?? {};
    const error =
      type === "test:pass" ? undefined : cause instanceof Error ? `${cause.message}${formatCause(cause)}` : message;
    const skipped = skip !== undefined || todo !== undefined;
    yield `${JSON.stringify({ name, file, passed: type === "test:pass", skipped, error })}\n`;
  }
  yield `${LAST_LINE}\n`;
}

/** The stack of the error that a skill threw, which is the cause of what \`testSkill\` rejects with. */
function formatCause({ cause }: Error): string {
  return cause instanceof Error && cause.stack !== undefined ? `\n${cause.stack}` : "";
}
