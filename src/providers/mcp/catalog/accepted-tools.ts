import { isRecord } from "../../../model/json.ts";
import { describeDifferences } from "./schema-diff.ts";
import { hashTool, selectPinnedFields } from "./tool-digest.ts";

/** How a tool that differs from its accepted definition is treated: reported, or reported and held back. */
export type ChangePolicy = "report" | "hold";

/** The accepted definitions of a server's tools, by protocol name. */
export type AcceptedTools = ReadonlyMap<string, Definition>;

export type Definition = Readonly<Record<string, unknown>>;

/** A tool that differs from its accepted definition, or was added later. */
export interface ToolChange {
  readonly tool: string;
  /** One line for each difference; empty for a tool that was added later. */
  readonly differences: readonly string[];
}

/** A tool as its server lists it. */
export interface ListedTool {
  readonly name: string;
  readonly digest: string;
  readonly definition: Definition;
}

export function acceptTools(tools: readonly ListedTool[]): AcceptedTools {
  return new Map(tools.map(({ name, definition }) => [name, selectPinnedFields(definition)]));
}

/** Returns the tools that changed since they were accepted; with `hold`, added tools as well. */
export function findChanges(
  pins: AcceptedTools,
  tools: readonly ListedTool[],
  policy: ChangePolicy,
): readonly ToolChange[] {
  return tools.flatMap(({ name: tool, digest, definition }) => {
    const pinned = pins.get(tool);
    if (pinned === undefined) return policy === "hold" ? [{ tool, differences: [] }] : [];
    if (hashTool(pinned) === digest) return [];
    return [{ tool, differences: describeDifferences(pinned, selectPinnedFields(definition)) }];
  });
}

/** `has changed since it was accepted (description: "a" → "b")` */
export function describeChange(change: ToolChange): string {
  if (change.differences.length === 0) return "was added after the tools were accepted";
  return `has changed since it was accepted (${change.differences.join("; ")})`;
}

/** Parses stored definitions; `undefined` if the value is not an object. */
export function parseAcceptedTools(stored: unknown): AcceptedTools | undefined {
  if (!isRecord(stored)) return undefined;
  return new Map(Object.entries(stored).filter((entry): entry is [string, Definition] => isRecord(entry[1])));
}

/** Converts accepted definitions to plain data for storage. */
export function serializeAcceptedTools(pins: AcceptedTools): Readonly<Record<string, Definition>> {
  return Object.fromEntries(pins);
}
