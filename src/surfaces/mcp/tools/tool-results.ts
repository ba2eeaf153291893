import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";

import { formatRpcError, type RpcError, rpcError, getErrorKind } from "../../../shared/rpc-errors.ts";
import type { ErrorCode } from "../../../errors.ts";
import { isRecord } from "../../../model/json.ts";
import { getValueJson } from "../../../shared/json/outcome-value.ts";
import type { Outcome } from "../../../model/outcome.ts";
import { toContentBlocks } from "../content-blocks.ts";
import { toJson } from "../../../shared/values/value-encoding.ts";
import type { EndedRun } from "../../../runtime/builtin-tools/index.ts";
import type { ToolDefinition } from "../../../model/tools/tool-definition.ts";
import { cutText } from "../../../shared/format-text.ts";
import { inActiveTrace } from "../trace-requests.ts";

/** Maximum characters of JSON that are sent both as text and as structured content. */
const MAX_INLINE_CHARACTERS = 2_000;

/** Maximum characters of text in one result; the rest is stored and linked. */
const MAX_CHARACTERS = 256 << 10;

/** Stores a text that is too large for one result; returns the URI at which it can be read in parts. */
export type Keep = (text: string) => string;

/** Converts the value of a method to the result of its tool. */
export function valueResult(
  value: unknown,
  { outputSchema }: Pick<ToolDefinition, "outputSchema">,
  keep: Keep,
): CallToolResult {
  const blocks = toContentBlocks(value);
  if (blocks !== undefined) return { content: blocks };
  if (typeof value === "string") return { content: textContent(value, keep) };
  const json = toJson(value);
  const isShort = json.length <= MAX_INLINE_CHARACTERS;
  if (!isRecord(value) || (outputSchema === undefined && !isShort)) return { content: textContent(json, keep) };
  const structuredContent: Record<string, unknown> = JSON.parse(json);
  if (isShort) return { content: [{ type: "text", text: json }], structuredContent };
  return { content: referenceTo(json, keep), structuredContent };
}

/** Creates a note that accompanies a result. */
export function noteBlock(note: string): ContentBlock {
  return { type: "text", text: `Note: ${note}` };
}

/** Converts a finished run to a result: text for a model, structured content for a program. */
export function runResult({ outcome, limits }: Omit<EndedRun, "source">): CallToolResult {
  const { kind, runId, text } = outcome;
  const content: ContentBlock[] = [{ type: "text", text }];
  switch (outcome.kind) {
    case "completed": {
      const json = getValueJson(outcome) ?? toJson(outcome.value);
      const value = json.length <= MAX_INLINE_CHARACTERS ? { value: JSON.parse(json) as unknown } : {};
      return { content, structuredContent: { kind, runId, ...value, calls: outcome.calls.length } };
    }
    case "waiting":
      return { content, structuredContent: { kind, runId, approvals: outcome.approvals } };
    case "refused":
    case "failed":
      return {
        content,
        isError: true,
        structuredContent: { kind, runId, ...runError(outcome, limits, inActiveTrace().trace_id).data },
      };
  }
}

/** Converts an unsuccessful run to the error that programs receive. */
export function runError(
  outcome: Extract<Outcome, { readonly kind: "refused" | "failed" }>,
  limits: EndedRun["limits"],
  traceId: string,
): RpcError {
  switch (outcome.kind) {
    case "refused": {
      const [first] = outcome.violations;
      const suggestions = [...new Set(outcome.violations.flatMap(({ fix, suggestions }) => [...suggestions, fix]))];
      return rpcError("ValidationError", first?.message ?? outcome.text, {
        field: "code",
        suggestions,
        trace_id: traceId,
      });
    }
    case "failed": {
      const { code, message, hint } = outcome.error;
      const suggestions = hint === "" ? [] : [hint];
      const kind = code === "THROWN" ? "ToolExecution" : getErrorKind(code);
      const timeout = getLimitMs(code, limits);
      return rpcError(kind, message, {
        tool_name: "run_code",
        ...(timeout !== undefined && { timeout_ms: timeout }),
        suggestions,
        trace_id: traceId,
      });
    }
  }
}

function getLimitMs(code: ErrorCode, { cpuMs, wallMs }: EndedRun["limits"]): number | undefined {
  if (code === "WALL_LIMIT") return wallMs;
  return code === "CPU_LIMIT" ? cpuMs : undefined;
}

/**
 * Creates the result of a failed tool. Error data is in `_meta` if the tool has an output schema, because clients
 * validate structured content.
 */
export function errorResult(
  error: RpcError,
  { outputSchema }: Partial<Pick<ToolDefinition, "outputSchema">>,
): CallToolResult {
  const facts = { ...error.data };
  return {
    content: [{ type: "text", text: formatRpcError(error) }],
    isError: true,
    ...(outputSchema === undefined ? { structuredContent: facts } : { _meta: { "skillgate/error": facts } }),
  };
}

function textContent(text: string, keep: Keep): ContentBlock[] {
  if (text.length <= MAX_CHARACTERS) return [{ type: "text", text }];
  const uri = keep(text);
  const visible = cutText(text, MAX_CHARACTERS);
  return [
    { type: "text", text: `${visible}…` },
    {
      type: "text",
      text: `Note: the result has ${text.length} characters and was cut; read the rest in parts at ${uri}`,
    },
    linkTo(uri, text),
  ];
}

/** Shortens the text of a result whose JSON is already in the structured content. */
function referenceTo(json: string, keep: Keep): ContentBlock[] {
  const uri = keep(json);
  const visible = cutText(json, MAX_INLINE_CHARACTERS);
  return [
    {
      type: "text",
      text: `${visible}…\nNote: all ${json.length} characters are in the structured content, and at ${uri}`,
    },
    linkTo(uri, json),
  ];
}

function linkTo(uri: string, text: string): ContentBlock {
  return { type: "resource_link", uri, name: uri, mimeType: "text/plain", size: Buffer.byteLength(text) };
}
