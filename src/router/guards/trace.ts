import { isForeign } from "../../model/catalog.ts";
import { cutText } from "../../shared/format-text.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { encodeForGuest } from "../../shared/values/value-encoding.ts";
import {
  ATTRIBUTES,
  type Attributes,
  countRefusal,
  EVENTS,
  EXECUTE_TOOL,
  getErrorType,
  hasSdk,
  type OpenSpan,
  recordDuration,
  startSpan,
} from "../../telemetry/index.ts";
import type { CallAnswer, Guard, GuardedCall, Handler } from "../call.ts";
import { isRefusal } from "./audit.ts";

/** Maximum length of recorded arguments and results, in UTF-16 units. */
const MAX_CONTENT_UNITS = 16_384;

/** Values whose JSON is longer are left out. */
const MAX_ENCODED_UNITS = 1 << 20;

/** Puts each call into a span, and records its duration. The span has arguments and results only if `hasContent`. */
export function trace(secrets: KnownSecrets, hasContent: boolean): Guard {
  const encode = (value: unknown): string => {
    try {
      const { json = "" } = encodeForGuest(secrets.maskTexts(value), MAX_ENCODED_UNITS) ?? {};
      return cutText(json, MAX_CONTENT_UNITS);
    } catch {
      return ""; // the value is not JSON: the call itself says so
    }
  };
  return (next) => (call) => (hasSdk() ? traceCall(call, next) : next(call));

  async function traceCall(call: GuardedCall, next: Handler): Promise<CallAnswer> {
    const startedAt = performance.now();
    const span = startSpan(`${EXECUTE_TOOL} ${call.method.path}`, {
      parent: call.trace,
      getAttributes: () => ({
        ...describeCall(call),
        [ATTRIBUTES.toolCallId]: `${call.runId}/${call.id}`,
        [ATTRIBUTES.runId]: call.runId,
        ...(hasContent && { [ATTRIBUTES.toolArguments]: encode(call.args) }),
      }),
    });
    try {
      const answer = await (span === undefined ? next(call) : span.run(() => next(call)));
      if (span !== undefined) addAnswer(span, answer, hasContent ? encode : undefined);
      recordDuration("calls", startedAt, describeCall(call));
      return answer;
    } catch (thrown) {
      const errorType = getErrorType(thrown);
      recordDuration("calls", startedAt, { ...describeCall(call), [ATTRIBUTES.errorType]: errorType });
      const isRefused = isRefusal(thrown);
      if (isRefused) countRefusal("call", errorType);
      if (isRefused && span !== undefined) addRefusal(span, call, errorType);
      span?.fail(errorType);
      throw thrown;
    } finally {
      span?.end();
    }
  }
}

/** The tools of MCP servers call external APIs, as the conventions define extensions; methods of skills are functions. */
function describeCall({ method, skill }: GuardedCall): Attributes {
  return {
    [ATTRIBUTES.operation]: EXECUTE_TOOL,
    [ATTRIBUTES.toolName]: method.path,
    [ATTRIBUTES.toolType]: isForeign(skill) ? "extension" : "function",
  };
}

function addAnswer(span: OpenSpan, { value, cached }: CallAnswer, encode?: (value: unknown) => string): void {
  if (cached) span.set({ [ATTRIBUTES.callCached]: true });
  if (encode !== undefined) span.set({ [ATTRIBUTES.toolResult]: encode(value) });
}

function addRefusal(span: OpenSpan, { rule }: GuardedCall, errorType: string): void {
  span.addEvent(EVENTS.refused, {
    [ATTRIBUTES.errorType]: errorType,
    ...(rule.row !== undefined && { [ATTRIBUTES.policyRow]: rule.row }),
  });
}
