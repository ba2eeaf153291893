import { isRecord } from "../../model/json.ts";
import { differences } from "./differences.ts";
import { digestOfTool, pinnedPartOf } from "./digest.ts";

/** What is done with a tool that is not what was accepted: it is told, or it is told and held back. */
export type ChangePolicy = "report" | "hold";

/** The definitions of a server's tools that were accepted, by their names on the wire. */
export type Pins = ReadonlyMap<string, Definition>;

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

export function pinsOf(tools: readonly ListedTool[]): Pins {
  return new Map(tools.map(({ name, definition }) => [name, pinnedPartOf(definition)]));
}

/** What is not as it was accepted: changed tools; with `hold`, tools that came later as well. */
export function changesSince(pins: Pins, tools: readonly ListedTool[], policy: ChangePolicy): readonly ToolChange[] {
  return tools.flatMap(({ name: tool, digest, definition }) => {
    const pinned = pins.get(tool);
    if (pinned === undefined) return policy === "hold" ? [{ tool, differences: [] }] : [];
    if (digestOfTool(pinned) === digest) return [];
    return [{ tool, differences: differences(pinned, pinnedPartOf(definition)) }];
  });
}

/** `has changed since it was accepted (description: "a" → "b")` */
export function changeInWords(change: ToolChange): string {
  if (change.differences.length === 0) return "was not there when the tools were accepted";
  return `has changed since it was accepted (${change.differences.join("; ")})`;
}

/** Pins as they were kept; `undefined` if they are none. */
export function parsePins(kept: unknown): Pins | undefined {
  if (!isRecord(kept)) return undefined;
  return new Map(Object.entries(kept).filter((entry): entry is [string, Definition] => isRecord(entry[1])));
}

/** Pins as they are kept. */
export function plainPins(pins: Pins): Readonly<Record<string, Definition>> {
  return Object.fromEntries(pins);
}
