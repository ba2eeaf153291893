import { sentence, SkillgateError } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { isStructureText, parseJsonText } from "./json-text.ts";
import type { TextForm } from "./server-config.ts";
import { truncateText } from "../../shared/format-text.ts";

/** Maximum number of characters of a failing tool's text in the error message. */
const MESSAGE_CHARACTERS = 8_000;

/** The facts that an error of a call carries. */
export interface CallFacts {
  readonly server: string;
  readonly tool: string;
  readonly skill: string;
  readonly method: string;
}

/** How the result of a tool is read. */
export interface ResultReading {
  /** The tool declares a schema for its results. */
  readonly hasOutputSchema: boolean;
  /** Whether text may become the value that it holds as JSON; `json` by default. */
  readonly text?: TextForm | undefined;
  /** Receives a remark for the caller, whose subject is the result. */
  readonly addNote?: ((text: string) => void) | undefined;
}

/**
 * Returns the value of a tool's result: structured content first; else one item, a list of several, or null. Text is a
 * string, but a single one that is a JSON object or array is that value; images, audio and resources are descriptors
 * with their bytes; unknown items stay as they are. An error result is thrown as `CALL_FAILED`, with the tool's own text.
 */
export function toValue(result: unknown, options: ResultReading, facts: CallFacts): unknown {
  if (!isRecord(result)) return result ?? null;
  const items = getContent(result);
  if (result["isError"] === true) throw toCallError(items, result["structuredContent"], facts);
  if (result["structuredContent"] != null) return withMedia(result["structuredContent"], items);
  if (items.length > 1) return items.map((item) => itemToValue(item, options));
  const [item] = items;
  if (options.text !== "text" && isRecord(item) && item["type"] === "text" && typeof item["text"] === "string")
    return onlyTextToValue(item["text"], options.hasOutputSchema || declaresJson(item), options);
  return itemToValue(item, options) ?? null;
}

function onlyTextToValue(text: string, isDeclared: boolean, { addNote }: ResultReading): unknown {
  return isDeclared || isStructureText(text) ? jsonToValue(text, isDeclared, addNote) : text;
}

/** `isDeclared`: the tool or the item declares the text to be JSON. */
function jsonToValue(text: string, isDeclared: boolean, addNote: ResultReading["addNote"]): unknown {
  const parsed = parseJsonText(text);
  switch (parsed.kind) {
    case "value":
      return parsed.value;
    case "not JSON":
      return text;
    case "inexact":
      addNote?.(`is text holding JSON, because a number cannot hold its integer ${parsed.integer} exactly`);
      return text;
    case "excess":
    case "unread":
      if (isDeclared && parsed.kind === "excess") return parsed.value; // refused where every result is measured
      addNote?.(`is text holding JSON, because its value has ${parsed.excess}`);
      return text;
  }
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
  return { ...data, _content: media.map((item) => itemToValue(item, KEEP_TEXT)) };
}

/** Returns what identifies an item: its bytes or its URI. */
function getDataKey({ data, uri, resource }: Readonly<Record<string, unknown>>): unknown {
  if (!isRecord(resource)) return data ?? uri;
  return resource["blob"] ?? resource["text"] ?? resource["uri"];
}

/** Maximum depth at which structured content is searched for an item. */
const MAX_SEARCH_DEPTH = 32;

function containsDeeply(value: unknown, target: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return value === target && value !== undefined;
  return depth < MAX_SEARCH_DEPTH && Object.values(value).some((inner) => containsDeeply(inner, target, depth + 1));
}

/** Texts stay texts, whatever they hold. */
export const KEEP_TEXT: ResultReading = { hasOutputSchema: false, text: "text" };

export function itemToValue(item: unknown, options: ResultReading): unknown {
  if (!isRecord(item)) return item;
  switch (item["type"]) {
    case "text": {
      const { text } = item;
      if (typeof text !== "string") return text ?? "";
      return options.text !== "text" && declaresJson(item) ? jsonToValue(text, true, options.addNote) : text;
    }
    case "resource":
      return resourceToValue(item["resource"]);
    case "image":
    case "audio":
    case "resource_link":
      return removeProtocolFields(item);
    default:
      return item;
  }
}

/** Tests whether an item has the media type of JSON. */
function declaresJson(item: Readonly<Record<string, unknown>>): boolean {
  const meta = isRecord(item["_meta"]) ? item["_meta"] : {};
  const mimeType = item["mimeType"] ?? meta["mimeType"];
  return typeof mimeType === "string" && /^application\/(?:[\w.-]+\+)?json\b/i.test(mimeType);
}

/** `{ type: "resource", uri, mimeType, text }`, or `data` in base64 for bytes. */
export function resourceToValue(resource: unknown): unknown {
  if (!isRecord(resource)) return { type: "resource" };
  const { blob, ...rest } = removeProtocolFields(resource);
  return { type: "resource", ...rest, ...(blob !== undefined && { data: blob }) };
}

/** Removes the fields that the protocol adds for its own use. */
function removeProtocolFields(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(item).filter(([key]) => key !== "_meta" && key !== "annotations"));
}

function toCallError(items: readonly unknown[], structured: unknown, facts: CallFacts): SkillgateError {
  const texts = items.map((item) => (isRecord(item) ? item["text"] : item)).filter((text) => typeof text === "string");
  const text = texts.join("\n").trim() || (structured == null ? "" : JSON.stringify(structured));
  const message = text === "" ? sentence("CALL_FAILED", `"${facts.tool}" of "${facts.server}" gives no details`) : text;
  const error = truncateText(message, MESSAGE_CHARACTERS);
  const media = items.filter((item) => isRecord(item) && typeof item["text"] !== "string");
  const serverError = {
    ...(structured != null && { data: structured }),
    ...(media.length > 0 && { content: media.map((item) => itemToValue(item, KEEP_TEXT)) }),
  };
  return new SkillgateError("CALL_FAILED", error, { ...facts, error, serverError });
}
