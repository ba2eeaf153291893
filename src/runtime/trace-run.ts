import { createSandbox, type Sandbox } from "../../sandbox/index.ts";
import type { Outcome } from "../model/outcome.ts";
import {
  ATTRIBUTES,
  type Attributes,
  countRefusal,
  EVENTS,
  getErrorType,
  hasSdk,
  observeSandbox,
  type OpenSpan,
  recordDuration,
  SPANS,
  withSpan,
} from "../telemetry/index.ts";

/** Runs a program within a span, and records its duration and its outcome. */
export function traceRun(run: () => Promise<Outcome>): Promise<Outcome> {
  return hasSdk() ? runWithSpan(run) : run();
}

function runWithSpan(run: () => Promise<Outcome>): Promise<Outcome> {
  const startedAt = performance.now();
  return withSpan(SPANS.run, async (span) => {
    try {
      const outcome = await (span === undefined ? run() : span.run(run));
      const attributes = describeRun(outcome);
      if (span !== undefined) addOutcome(span, outcome, attributes);
      recordDuration("runs", startedAt, attributes);
      if (outcome.kind === "refused") for (const { code } of outcome.violations) countRefusal("run", code);
      return outcome;
    } catch (thrown) {
      const errorType = getErrorType(thrown);
      recordDuration("runs", startedAt, { [ATTRIBUTES.errorType]: errorType });
      countRefusal("run", errorType);
      throw thrown;
    }
  });
}

function describeRun(outcome: Outcome): Attributes {
  const errorType = findErrorCode(outcome);
  return {
    [ATTRIBUTES.runOutcome]: outcome.kind,
    ...(errorType !== undefined && { [ATTRIBUTES.errorType]: errorType }),
  };
}

function findErrorCode(outcome: Outcome): string | undefined {
  if (outcome.kind === "failed") return outcome.error.code;
  return outcome.kind === "refused" ? outcome.violations[0]?.code : undefined;
}

/** Maximum number of violations that a span shows. */
const MAX_VIOLATIONS = 20;

function addOutcome(span: OpenSpan, outcome: Outcome, attributes: Attributes): void {
  span.set({ ...attributes, [ATTRIBUTES.runId]: outcome.runId });
  const errorType = findErrorCode(outcome);
  if (errorType !== undefined) span.fail(errorType);
  if (outcome.kind !== "refused") return;
  for (const { code, line } of outcome.violations.slice(0, MAX_VIOLATIONS))
    span.addEvent(EVENTS.violation, { [ATTRIBUTES.errorType]: code, "code.line.number": line });
}

/** Creates a sandbox whose workers and queue are part of the metrics. */
export function createObservedSandbox(options: Parameters<typeof createSandbox>[0]): Sandbox {
  const sandbox = createSandbox(options);
  const stopObserving = observeSandbox(() => sandbox.getLoad());
  return {
    ...sandbox,
    close() {
      stopObserving();
      return sandbox.close();
    },
  };
}
