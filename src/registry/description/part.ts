import type { Method, Skill } from "../../model/catalog.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";
import type { Description } from "./index.ts";
import { sanitizeText } from "../sanitize.ts";

/** Maximum length of an example, and of the definition of a type, in UTF-16 units. */
const EXAMPLE_UNITS = 1_000;
const TYPE_UNITS = 6_000;

/** Returns a whole call that contains a part of a method, as its provider wrote it; empty without one. */
export function getPartExample({ definition }: Method): string {
  return sanitizeText(definition.examples?.[0]?.code, EXAMPLE_UNITS);
}

/** Describes a part of a method: the root field of a GraphQL API. */
export function describePart(part: Method, notes: readonly string[]): Description {
  const { path, skill, declaration, definition } = part;
  const example = getPartExample(part);
  const text = [
    `${path}, which calls of ${formatMethodAccess(`${skill}.${definition.partOf}`)} contain`,
    declaration,
    ...(example === "" ? [] : [`Example: ${example}`]),
    ...notes.map((note) => `Note: ${note}`),
    `Note: device.describe("${skill}.TypeName") shows a type that the signature names`,
  ].join("\n");
  return { kind: "method", path, methods: [path], declaration, example, notes, suggestions: [], text };
}

/** Describes a named type in the language of the API of a skill: `TrackerGraph.Issue`; `undefined` for an unknown one. */
export function describeNamedType({ name: skill, provided }: Skill, name: string): Description | undefined {
  const declaration = sanitizeText(provided.findTypeText?.(name), TYPE_UNITS);
  if (declaration === "") return undefined;
  const path = `${skill}.${name}`;
  return { kind: "type", path, methods: [], declaration, example: "", notes: [], suggestions: [], text: declaration };
}

/** Finds a part by its own name, without that of its method: `TrackerGraph.createIssue`. */
export function findPartNamed({ parts }: Skill, name: string): Method | undefined {
  const found = parts.filter(({ wireName }) => wireName === name);
  return found.length === 1 ? found[0] : undefined;
}
