export { hasSdk } from "./api.ts";
export { ATTRIBUTES, EVENTS, EXECUTE_TOOL, SPANS, TOOL_ERROR } from "./conventions.ts";
export { capturesContent, type ExportTarget, findExportSecrets } from "./environment.ts";
export { getErrorType } from "./error-type.ts";
export {
  countAutomation,
  countDroppedMessage,
  countReconnect,
  countRefusal,
  observeSandbox,
  recordDuration,
} from "./metrics.ts";
export { type Carrier, extractContext, getActiveContext, injectContext, runInContext } from "./propagation.ts";
export { type SdkStart, startSdk } from "./sdk.ts";
export { type Attributes, getTraceIds, type OpenSpan, startSpan, type TraceContext, withSpan } from "./spans.ts";
