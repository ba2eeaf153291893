import { isRecord } from "../../../model/json.ts";
import { describeDifferences } from "./schema-diff.ts";
import { hashTool, selectPinnedFields } from "./tool-digest.ts";

/** What is done with a tool that is not what was accepted: it is told, or it is told and held back. */
export type ChangePolicy = "report" | "hold";

/** The definitions of a server's tools that were accepted, by their names on the wire. */
export type AcceptedTools = ReadonlyMap<string, Definition>;

export type Definition = Readonly<Record<string, unknown>>;

/** A tool that is not what was accepted. */
export interface ToolChange {
  readonly tool: string;
  /** One line each; none for a tool that was not there. */
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

/** What is not as it was accepted: changed tools; with `hold`, tools that came later as well. */
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
  if (change.differences.length === 0) return "was not there when the tools were accepted";
  return `has changed since it was accepted (${change.differences.join("; ")})`;
}

/** Pins as they were kept; `undefined` if they are none. */
export function parseAcceptedTools(kept: unknown): AcceptedTools | undefined {
  if (!isRecord(kept)) return undefined;
  return new Map(Object.entries(kept).filter((entry): entry is [string, Definition] => isRecord(entry[1])));
}

/** Pins as they are kept. */
export function serializeAcceptedTools(pins: AcceptedTools): Readonly<Record<string, Definition>> {
  return Object.fromEntries(pins);
}
