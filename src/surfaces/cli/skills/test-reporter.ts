/** What of an event of Node's test runner matters here. */
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

/** A reporter for Node's test runner: one line of JSON for each test that has ended, those in groups included. */
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const { name, file, skip, todo, details } = data;
    // A group fails with its tests, which speak for themselves.
    if (details?.type === "suite") continue;
    const { cause, message = "it failed" } = details?.error ?? {};
    const error = type === "test:pass" ? undefined : cause instanceof Error ? cause.message : message;
    const skipped = skip !== undefined || todo !== undefined;
    yield `${JSON.stringify({ name, file, passed: type === "test:pass", skipped, error })}\n`;
  }
}
