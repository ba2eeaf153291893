import type { ContentBlock } from "@modelcontextprotocol/server";

import { isRecord } from "../../model/json.ts";

/**
 * Converts a value that is MCP content, or a list that contains some, to content blocks; returns `undefined` for any
 * other value. Content has the form that methods of MCP servers return: `{ type: "image", data, mimeType }`. Bytes may
 * replace base64.
 */
export function toContentBlocks(value: unknown): ContentBlock[] | undefined {
  if (!Array.isArray(value)) {
    const block = toContentBlock(value);
    return block === undefined ? undefined : [block];
  }
  const blocks = value.map((item) => (typeof item === "string" ? textBlock(item) : toContentBlock(item)));
  const isContent = blocks.every((block) => block !== undefined) && value.some((item) => typeof item !== "string");
  return isContent ? blocks : undefined;
}

function toContentBlock(value: unknown): ContentBlock | undefined {
  if (!isRecord(value)) return undefined;
  const { type, uri } = value;
  switch (type) {
    case "text":
      return typeof value["text"] === "string" ? textBlock(value["text"], value) : undefined;
    case "image":
    case "audio": {
      const [data, mimeType] = [base64(value["data"]), value["mimeType"]];
      if (data === undefined || typeof mimeType !== "string") return undefined;
      return { type, data, mimeType, ...getAnnotations(value) };
    }
    case "resource":
      return resourceBlock(isRecord(value["resource"]) ? value["resource"] : value);
    case "resource_link":
      if (typeof uri !== "string") return undefined;
      return { ...value, type, uri, name: typeof value["name"] === "string" ? value["name"] : uri };
    default:
      return undefined;
  }
}

function textBlock(text: string, from: Readonly<Record<string, unknown>> = {}): ContentBlock {
  return { type: "text", text, ...getAnnotations(from) };
}

function resourceBlock(resource: Readonly<Record<string, unknown>>): ContentBlock | undefined {
  const { uri, text, mimeType } = resource;
  if (typeof uri !== "string") return undefined;
  const facts = { uri, ...(typeof mimeType === "string" && { mimeType }) };
  if (typeof text === "string") return { type: "resource", resource: { ...facts, text } };
  const blob = base64(resource["blob"] ?? resource["data"]);
  return blob === undefined ? undefined : { type: "resource", resource: { ...facts, blob } };
}

function base64(data: unknown): string | undefined {
  if (typeof data === "string") return data;
  return data instanceof Uint8Array ? Buffer.from(data).toString("base64") : undefined;
}

function getAnnotations({ annotations }: Readonly<Record<string, unknown>>): { annotations?: object } {
  return isRecord(annotations) ? { annotations } : {};
}
