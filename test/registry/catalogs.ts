import { existsSync, readFileSync } from "node:fs";
import { methodNamesOfTools, skillNameOfServer } from "../../src/model/names.ts";
import type { JsonSchema } from "../../src/model/json.ts";
import type { MethodDefinition, ProvidedSkill } from "../../src/model/skill.ts";

/** Recorded answers of real servers; they lie beside the repository, not in it. */
const RECORDED = new URL("../../../shared/data/tools/", import.meta.url);
const SERVERS = ["chrome", "everything", "git", "notion", "playwright"];

export const hasRecordedTools = existsSync(RECORDED);

interface RecordedTools {
  readonly server: { readonly name: string };
  readonly tools: readonly {
    readonly name: string;
    readonly description?: string;
    readonly inputSchema: JsonSchema;
    readonly outputSchema?: JsonSchema;
  }[];
}

/** The 126 tools of five servers, as skills. */
export function recordedSkills(): readonly ProvidedSkill[] {
  return SERVERS.map((server) => {
    const { tools } = JSON.parse(readFileSync(new URL(`${server}.json`, RECORDED), "utf8")) as RecordedTools;
    const names = methodNamesOfTools(tools.map((tool) => tool.name));
    const methods = tools.map((tool, at): MethodDefinition => ({
      name: names[at] ?? "",
      wireName: tool.name,
      description: tool.description ?? "",
      input: tool.inputSchema,
      ...(tool.outputSchema !== undefined && { output: tool.outputSchema }),
    }));
    return skillOf(skillNameOfServer(server), methods, { kind: "mcp", server });
  });
}

/** A skill whose methods are never called. */
export function skillOf(
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
