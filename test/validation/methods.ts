import { createRegistry } from "../../src/registry/index.ts";
import type { Method } from "../../src/model/catalog.ts";
import type { JsonSchema } from "../../src/model/json.ts";

/** A method `TestSkill.try` as the registry makes it. */
export function methodWith(input: JsonSchema, output?: JsonSchema): Method {
  const registry = createRegistry();
  registry.register({
    name: "TestSkill",
    description: "",
    source: "test",
    kind: "code",
    methods: [{ name: "try", description: "", input, ...(output !== undefined && { output }) }],
    invoke: () => Promise.resolve(null),
  });
  const method = registry.catalog.method("TestSkill.try");
  if (method === undefined) throw new Error("the registry lost the method");
  return method;
}

/** A method with the given properties; `required` are required, in the order of the properties. */
export function createMethod(properties: Readonly<Record<string, unknown>>, required: readonly string[] = []): Method {
  return methodWith({ type: "object", properties, required });
}
