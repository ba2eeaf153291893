import { isRecord, type JsonSchema, toRecord } from "../json.ts";
import type { MethodMetadata } from "../skill.ts";

/** A tool as it is listed for a model. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: "object" };
  readonly outputSchema?: JsonSchema & { readonly type: "object" };
  readonly annotations?: ToolAnnotations;
  readonly icons?: { readonly src: string }[];
  readonly execution?: { readonly taskSupport?: "optional" | "required" | "forbidden" };
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** Fields of a tool that are passed on from its server to clients. */
export const TOOL_FIELDS = ["title", "icons", "annotations", "execution", "_meta"] as const;

/** Behavior hints, with the names that MCP uses. */
export interface ToolAnnotations {
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Converts only the hints that are set; the rest keeps the defaults of every method. */
export function parseHints(annotations: unknown): Partial<MethodMetadata> {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = toRecord(annotations);
  return {
    ...(typeof readOnlyHint === "boolean" && { readOnly: readOnlyHint }),
    ...(typeof destructiveHint === "boolean" && { destructive: destructiveHint }),
    ...(typeof idempotentHint === "boolean" && { idempotent: idempotentHint }),
    ...(typeof openWorldHint === "boolean" && { openWorld: openWorldHint }),
  };
}

/** The name and the texts that replace those of a tool. */
export interface ToolOverride {
  /** The name of its method. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
}

/** Tests whether the `_meta` of a tool of an MCP server offers it to models, or to the pages of the server; by default, to both. */
export function isVisibleTo(meta: unknown, user: "model" | "app"): boolean {
  if (!isRecord(meta)) return true;
  const { ui, "openai/visibility": visibility } = meta;
  if (isRecord(ui) && Array.isArray(ui["visibility"])) return ui["visibility"].includes(user);
  return user === "app" || visibility !== "private";
}
