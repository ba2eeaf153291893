import { isRecord } from "../../../model/json.ts";
import {
  type ChangePolicy,
  type Definition,
  type DefinitionChange,
  findChanges,
} from "../../../shared/changes/definition-changes.ts";
import { hashTool, selectPinnedFields } from "./tool-digest.ts";

/** The accepted definitions of a server's tools, by protocol name. */
export type AcceptedTools = ReadonlyMap<string, Definition>;

/** A tool that differs from its accepted definition, or was added later. */
export interface ToolChange extends Pick<DefinitionChange, "differences"> {
  readonly tool: string;
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
export function findToolChanges(
  pins: AcceptedTools,
  tools: readonly ListedTool[],
  policy: ChangePolicy,
): readonly DefinitionChange[] {
  const accepted = new Map([...pins].map(([name, definition]) => [name, { digest: hashTool(definition), definition }]));
  const offered = tools.map((tool) => ({ ...tool, definition: selectPinnedFields(tool.definition) }));
  return findChanges(accepted, offered).filter(({ kind }) => policy === "hold" || kind === "changed");
}

/** Parses stored definitions; `undefined` if the value is not an object. */
export function parseAcceptedTools(stored: unknown): AcceptedTools | undefined {
  if (!isRecord(stored)) return undefined;
  return new Map(Object.entries(stored).filter((entry): entry is [string, Definition] => isRecord(entry[1])));
}
