import { isRecord, type JsonSchema } from "../../../model/json.ts";
import { MAX_TOOL_NAME_UNITS, toMethodNames } from "../../../shared/names/skill-names.ts";
import type { MethodDefinition, MethodMetadata } from "../../../model/skill.ts";
import { isVisibleTo, parseHints, TOOL_FIELDS } from "../../../model/tools/tool-definition.ts";
import { findSizeExcess } from "../../../shared/values/value-size.ts";
import { hashTool } from "./tool-digest.ts";
import { findHeaderFlaw } from "../http/parameter-headers.ts";
import { getNameOwners, getToolOverride, overrideTool } from "../../../model/tools/override-tool.ts";
import { isToolEnabled, type ServerConfig } from "../server-config.ts";
import { leaveOutForeignPatterns } from "../../../shared/json/foreign-patterns.ts";
import { truncateText } from "../../../shared/format-text.ts";

/** A tool that can be called. */
export interface ImportedTool {
  /** The protocol name. */
  readonly name: string;
  /** The digest of its definition, to detect changes. */
  readonly digest: string;
  /** The definition as the server sent it. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  /** Patterns of its schemas that are not checked. */
  readonly foreignPatterns: ReadonlySet<string>;
  readonly method: MethodDefinition;
}

/** A tool that cannot be offered, and the reason. Other tools are not affected. */
export interface QuarantinedTool {
  readonly tool: string;
  readonly reason: string;
}

export interface ImportedTools {
  readonly tools: readonly ImportedTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Protocol names of the tools that the entry of the server leaves out. */
  readonly disabled: readonly string[];
}

export interface ImportOptions extends Pick<
  ServerConfig,
  "enabledTools" | "disabledTools" | "toolOverrides" | "timeoutMs"
> {
  /** The server may require headers that repeat parameters. */
  readonly hasHeaders?: boolean;
}

/** Converts the tools of a server to methods. A bad tool is left out and does not affect the others. */
export function importTools(listed: readonly unknown[], options: ImportOptions): ImportedTools {
  const parsed = new Map<string, RenamedTool>();
  const { toolOverrides = {} } = options;
  const owners = getNameOwners(toolOverrides);
  const quarantined: QuarantinedTool[] = [];
  for (const [index, item] of listed.entries()) {
    const tool = parseTool(item, `#${index + 1}`, options.hasHeaders === true);
    if ("reason" in tool) quarantined.push(tool);
    else if (parsed.has(tool.name)) quarantined.push({ tool: tool.name, reason: "another tool has this name" });
    else {
      const { name: newName, ...texts } = getToolOverride(toolOverrides, tool.name);
      const owner = owners.get(newName ?? tool.name) ?? tool.name;
      if (owner === tool.name) parsed.set(tool.name, { ...overrideTool(tool, texts), newName });
      else quarantined.push({ tool: tool.name, reason: `toolOverrides gives its name to "${owner}"` });
    }
  }
  // Disabled tools get names as well, so that disabling one tool does not rename another.
  const names = toMethodNames([...parsed.values()].map(({ name, newName }) => newName ?? name));
  const tools = [...parsed.values()].map((tool, index) => toTool(tool, names[index] ?? tool.name, options.timeoutMs));
  return {
    tools: tools.filter(({ name }) => isToolEnabled(options, name)),
    quarantined,
    disabled: [...parsed.keys()].filter((name) => !isToolEnabled(options, name)),
  };
}

interface ParsedTool {
  readonly name: string;
  readonly digest: string;
  readonly definition: Readonly<Record<string, unknown>>;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly hints: Partial<MethodMetadata>;
  /** Fields that are passed on to clients. */
  readonly fields: Readonly<Record<string, unknown>>;
}

interface RenamedTool extends ParsedTool {
  readonly newName: string | undefined;
}

function parseTool(item: unknown, label: string, hasHeaders: boolean): ParsedTool | QuarantinedTool {
  if (!isRecord(item)) return { tool: label, reason: "it is not an object" };
  const { name, title, description, inputSchema, outputSchema, annotations } = item;
  if (typeof name !== "string" || name === "") return { tool: label, reason: "it has no name" };
  if (name.length > MAX_TOOL_NAME_UNITS)
    return { tool: truncateText(name, 100), reason: `its name has more than ${MAX_TOOL_NAME_UNITS} characters` };
  const digest = hashTool(item);
  const fields = selectToolFields(item);
  if (digest === undefined || findSizeExcess(fields) !== undefined)
    return { tool: name, reason: "its definition nests too deeply" };
  const wrong = findInputFlaw(inputSchema) ?? (hasHeaders ? findHeaderFlaw(inputSchema) : undefined);
  if (wrong !== undefined) return { tool: name, reason: wrong };
  return {
    name,
    digest,
    definition: item,
    description: [description, title].find(isText) ?? `MCP tool: ${name}`,
    inputSchema: { ...(isRecord(inputSchema) ? inputSchema : {}), type: "object" },
    ...(isRecord(outputSchema) && { outputSchema }),
    hints: parseHints(annotations),
    fields,
  };
}

function selectToolFields(item: Readonly<Record<string, unknown>>): ParsedTool["fields"] {
  return Object.fromEntries(TOOL_FIELDS.filter((key) => item[key] != null).map((key) => [key, item[key]]));
}

/** Arguments are named, so a schema must describe an object; an empty schema accepts any object. */
function findInputFlaw(schema: unknown): string | undefined {
  if (schema === undefined || schema === null || schema === true) return undefined;
  if (!isRecord(schema)) return "its inputSchema is not an object";
  const type = schema["type"] ?? "object";
  const isObject = type === "object" || (Array.isArray(type) && type.includes("object"));
  return isObject ? undefined : `its inputSchema has the type ${JSON.stringify(type)} where "object" is wanted`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function toTool(
  { name, digest, definition, description, inputSchema, outputSchema, hints, fields, newName }: RenamedTool,
  methodName: string,
  timeoutMs: number | undefined,
): ImportedTool {
  const output = outputSchema === undefined ? {} : { outputSchema };
  const foreignPatterns = new Set<string>();
  const toChecked = (schema: JsonSchema): JsonSchema =>
    leaveOutForeignPatterns(schema, (pattern) => foreignPatterns.add(pattern));
  return {
    name,
    digest,
    definition,
    inputSchema,
    ...output,
    foreignPatterns,
    method: {
      name: methodName,
      ...(methodName !== name && { wireName: name }),
      ...(newName !== undefined && { toolName: newName }),
      description,
      input: toChecked(inputSchema),
      ...(outputSchema !== undefined && { output: toChecked(outputSchema) }),
      takesLongIntegers: true,
      metadata: { ...hints, ...(timeoutMs !== undefined && { timeoutMs }) },
      ...(Object.keys(fields).length > 0 && { toolFields: fields }),
      ...(!isVisibleTo(fields["_meta"], "model") && { isOnlyForPages: true }),
    },
  };
}
