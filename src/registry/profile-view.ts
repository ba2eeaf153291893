import type { Method } from "../model/catalog.ts";
import type { Profile } from "../model/tools/profile.ts";
import { changeDefinition, type MethodDefinition } from "../model/skill.ts";
import type { ToolOverride } from "../model/tools/tool-definition.ts";
import { overrideTool } from "../model/tools/override-tool.ts";

/** True if the profile replaces names or texts of methods. */
export function hasOverrides(profile: Profile | undefined): profile is Profile {
  return profile !== undefined && Object.keys(profile.tools).length > 0;
}

/**
 * Replaces the names and texts of the methods of a skill. A method whose name becomes that of another is left out: calls of
 * the name must have one meaning.
 */
export function overrideMethods(
  methods: readonly Method[],
  { tools }: Profile,
  create: (definition: MethodDefinition, original: Method) => Method,
): readonly Method[] {
  const find = ({ path }: Method): ToolOverride | undefined => (Object.hasOwn(tools, path) ? tools[path] : undefined);
  const newNames = new Set(methods.flatMap((method) => find(method)?.name ?? []));
  return methods.flatMap((method) => {
    const override = find(method);
    if (override !== undefined) return [create(overrideDefinition(method, override), method)];
    return newNames.has(method.name) ? [] : [method];
  });
}

function overrideDefinition(method: Method, override: ToolOverride): MethodDefinition {
  const { definition } = method;
  const { toolFields = {} } = definition;
  const { description, fields } = overrideTool({ description: method.description, fields: toolFields }, override);
  const { name } = override;
  const texts = { description, toolFields: fields };
  if (name === undefined || name === method.name) return changeDefinition(definition, texts);
  // The code of examples has the other name.
  const examples = (definition.examples ?? []).flatMap(({ request }) => (request === undefined ? [] : [{ request }]));
  return changeDefinition(definition, { ...texts, name, wireName: name, toolName: name, examples });
}
