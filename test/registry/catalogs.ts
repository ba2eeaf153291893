import { readFileSync } from "node:fs";
import type { Catalog } from "../../src/model/catalog.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import { toMethodNames, toSkillName } from "../../src/shared/names/skill-names.ts";
import type { MethodDefinition, ProvidedSkill } from "../../src/model/skill.ts";
import { createRegistry } from "../../src/registry/index.ts";

/** Recorded answers of real servers. */
const RECORDED = new URL("../fixtures/mcp/tools/", import.meta.url);
const SERVERS = ["chrome", "everything", "git", "notion", "playwright"];

interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonSchema;
  readonly outputSchema?: JsonSchema;
}

/** The 126 tools of five real servers, as skills. */
export function recordedSkills(): readonly ProvidedSkill[] {
  return SERVERS.map((server) => {
    const { tools } = JSON.parse(readFileSync(new URL(`${server}.json`, RECORDED), "utf8")) as {
      tools: readonly Tool[];
    };
    return createServerSkill(server, "", tools);
  });
}

/** Small servers made up for tests: ordinary tools, and a few that lie in wait. */
export function sampleSkills(): readonly ProvidedSkill[] {
  const file = new URL("../fixtures/search/tools.json", import.meta.url);
  const servers = JSON.parse(readFileSync(file, "utf8")) as readonly {
    readonly server: string;
    readonly description: string;
    readonly tools: readonly Tool[];
  }[];
  return servers.map(({ server, description, tools }) => createServerSkill(server, description, tools));
}

function createServerSkill(server: string, description: string, tools: readonly Tool[]): ProvidedSkill {
  const names = toMethodNames(tools.map((tool) => tool.name));
  const methods = tools.map((tool, at): MethodDefinition => ({
    name: names[at] ?? "",
    wireName: tool.name,
    description: tool.description ?? "",
    input: tool.inputSchema ?? { type: "object" },
    ...(tool.outputSchema !== undefined && { output: tool.outputSchema }),
  }));
  return createSkill(toSkillName(server), methods, { kind: "mcp", server, description });
}

export function createCatalog(...skills: readonly ProvidedSkill[]): Catalog {
  const registry = createRegistry();
  for (const skill of skills) registry.register(skill);
  return registry.catalog;
}

/** A skill whose methods are never called. */
export function createSkill(
  name: string,
  methods: readonly (Partial<MethodDefinition> & { readonly name: string })[],
  more: Partial<ProvidedSkill> = {},
): ProvidedSkill {
  return {
    name,
    description: "",
    source: `${name}.ts`,
    kind: "code",
    methods: methods.map((method) => ({ description: "", input: { type: "object" }, ...method })),
    invoke: () => Promise.reject(new Error("Cannot call a method of a sample")),
    ...more,
  };
}
