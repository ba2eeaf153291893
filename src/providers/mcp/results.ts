import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import type { ImportedTool } from "./catalog/import-tools.ts";

/** Maximum number of characters of a failing tool's text in the error message. */
const MESSAGE_CHARACTERS = 8_000;

/** The facts that an error of a call carries. */
export interface CallFacts {
  readonly server: string;
  readonly tool: string;
  readonly skill: string;
  readonly method: string;
}

/**
 * Returns the value of a tool's result: structured content first; else one item, a list of several, or null. Text is a
 * string; images, audio and resources are descriptors with their bytes; unknown items stay as they are. An error result
 * is thrown as `CALL_FAILED`, with the tool's own text.
 */
export function toValue(result: unknown, tool: Pick<ImportedTool, "outputSchema">, facts: CallFacts): unknown {
  if (!isRecord(result)) return result ?? null;
  const items = getContent(result);
  if (result["isError"] === true) throw toCallError(items, result["structuredContent"], facts);
  if (result["structuredContent"] != null) return withMedia(result["structuredContent"], items);
  // An older server declares an output schema but sends the output only as text.
  const isJson = tool.outputSchema !== undefined;
  const values = items.map((item) => itemToValue(item, isJson && items.length === 1));
  if (values.length > 1) return values;
  return values[0] ?? null;
}

/** Returns the items of a result; accepts a single item, and the field of the protocol's first draft. */
function getContent(result: Readonly<Record<string, unknown>>): readonly unknown[] {
  const content = result["content"] ?? result["toolResult"] ?? [];
  return Array.isArray(content) ? content : [content];
}

/**
 * Structured content repeats the text items as data. Other items are added to it as `_content`, unless the data already
 * contains them.
 */
function withMedia(structured: unknown, items: readonly unknown[]): unknown {
  const media = items.filter(
    (item) => isRecord(item) && item["type"] !== "text" && !containsDeeply(structured, getDataKey(item)),
  );
  if (media.length === 0) return structured;
  const data = isRecord(structured) ? structured : { value: structured };
  return { ...data, _content: media.map((item) => itemToValue(item, false)) };
}

/** Returns what identifies an item: its bytes or its URI. */
function getDataKey({ data, uri, resource }: Readonly<Record<string, unknown>>): unknown {
  if (!isRecord(resource)) return data ?? uri;
  return resource["blob"] ?? resource["text"] ?? resource["uri"];
}

/** Maximum depth at which structured content is searched for an item. */
const MAX_DEPTH = 32;

function containsDeeply(value: unknown, wanted: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return value === wanted && value !== undefined;
  return depth < MAX_DEPTH && Object.values(value).some((inner) => containsDeeply(inner, wanted, depth + 1));
}

export function itemToValue(item: unknown, isJson: boolean): unknown {
  if (!isRecord(item)) return item;
  switch (item["type"]) {
    case "text":
      return textToValue(item["text"], isJson || looksLikeJson(item));
    case "resource":
      return resourceToValue(item["resource"]);
    case "image":
    case "audio":
    case "resource_link":
      return withoutNotes(item);
    default:
      return item;
  }
}

function textToValue(text: unknown, isJson: boolean): unknown {
  if (typeof text !== "string") return text ?? "";
  if (!isJson) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text; // declared as JSON, but is not
  }
}

function looksLikeJson(item: Readonly<Record<string, unknown>>): boolean {
  const meta = isRecord(item["_meta"]) ? item["_meta"] : {};
  const mimeType = item["mimeType"] ?? meta["mimeType"];
  return typeof mimeType === "string" && /^application\/(?:[\w.-]+\+)?json\b/i.test(mimeType);
}

/** `{ type: "resource", uri, mimeType, text }`, or `data` in base64 for bytes. */
export function resourceToValue(resource: unknown): unknown {
  if (!isRecord(resource)) return { type: "resource" };
  const { blob, ...rest } = withoutNotes(resource);
  return { type: "resource", ...rest, ...(blob !== undefined && { data: blob }) };
}

/** Removes the fields that the protocol adds for its own use. */
function withoutNotes(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "_meta" && key !== "annotations"));
}

function toCallError(items: readonly unknown[], structured: unknown, facts: CallFacts): SkillgateError {
  const texts = items.map((item) => (isRecord(item) ? item["text"] : item)).filter((text) => typeof text === "string");
  const text = texts.join("\n").trim() || (structured == null ? "" : JSON.stringify(structured));
  const message = text === "" ? sentence("CALL_FAILED", `"${facts.tool}" of "${facts.server}" gives no details`) : text;
  const error = message.slice(0, MESSAGE_CHARACTERS);
  return new SkillgateError("CALL_FAILED", error, { ...facts, error, ...(structured != null && { data: structured }) });
}
