import { expect, test } from "vitest";

import { call, loadFiles, findMethod } from "./call.ts";

/** Large packages, on a machine that may have other things to do. */
const PATIENT = { importTimeoutMs: 60_000 };

/** Skills that import packages find those of this repository. */
const PACKAGES = { node_modules: `->${process.cwd()}/node_modules` };

test("accepts tools of the AI SDK unchanged [L2]", { timeout: 90_000 }, async () => {
  const provider = await loadFiles(
    {
      ...PACKAGES,
      "city.ts": `
      import { dynamicTool, jsonSchema, tool } from "ai";
      import { z } from "zod";

      export const weather = tool({
        title: "Weather",
        description: "The weather of a city",
        inputSchema: z.object({ city: z.string().min(2).describe("Where"), days: z.number().int().max(7).default(1) }),
        outputSchema: z.object({ city: z.string(), degrees: z.number() }),
        inputExamples: [{ input: { city: "Rome", days: 2 } }],
        execute: async ({ city, days }) => ({ city, degrees: 20 + days }),
      });

      export const count = tool({
        description: "Counts",
        inputSchema: jsonSchema<{ to: number }>({ type: "object", properties: { to: { type: "integer" } }, required: ["to"] }),
        async *execute({ to }) {
          for (let number = 1; number <= to; number++) yield number;
        },
      });

      export const remove = dynamicTool({
        description: "Removes a city",
        inputSchema: z.object({ city: z.string() }),
        needsApproval: true,
        execute: async (input, { toolCallId, abortSignal, messages }) => [input, toolCallId, abortSignal?.aborted, messages],
      });`,
    },
    PATIENT,
  );

  expect(provider.problems).toEqual([]);
  expect(findMethod(provider, "CitySkill.weather")).toMatchObject({
    description: "The weather of a city",
    input: {
      properties: {
        city: { type: "string", minLength: 2, description: "Where" },
        days: { type: "integer", maximum: 7, default: 1 },
      },
      required: ["city"],
    },
    output: { properties: { degrees: { type: "number" } } },
    examples: [{ city: "Rome", days: 2 }],
  });
  expect(findMethod(provider, "CitySkill.remove").metadata).toEqual({ approval: "user" });
  await expect(call(provider, "CitySkill.weather", { city: "Rome" })).resolves.toEqual({ city: "Rome", degrees: 21 });
  await expect(call(provider, "CitySkill.count", { to: 3 })).resolves.toBe(3);
  await expect(call(provider, "CitySkill.remove", { city: "Rome" })).resolves.toEqual([
    { city: "Rome" },
    "run/1",
    false,
    [],
  ]);
  await expect(call(provider, "CitySkill.weather", { city: "R" })).rejects.toMatchObject({ code: "ARGUMENTS_INVALID" });
});

/** The same tool as it is written for both generations of the SDK. */
const SUM = `{
  title: "Sum",
  description: "Adds numbers",
  inputSchema: SCHEMA,
  annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ a, b = 1 }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } })`;

test.each([
  ["@modelcontextprotocol/server", "z.object({ a: z.number(), b: z.number().optional() })"],
  ["@modelcontextprotocol/sdk/server/mcp.js", "{ a: z.number(), b: z.number().optional() }"],
])("accepts the arguments and the result of registerTool of %s [L2]", { tags: "rest" }, async (sdk, schema) => {
  const sum = SUM.replace("SCHEMA", schema);
  const provider = await loadFiles(
    {
      ...PACKAGES,
      "math.mjs": `
      import { McpServer } from "${sdk}";
      import { z } from "zod";
      const server = new McpServer({ name: "math", version: "1.0.0" });
      export const sum = server.registerTool("sum", ${sum});
      export const listed = ["sum-of-two", ${sum}];
      server.registerTool(...listed);
      export const fail = server.registerTool("fail", { description: "Fails" }, async () => ({
        isError: true,
        content: [{ type: "text", text: "no luck" }],
      }));
      export const signalled = server.registerTool("signalled", { description: "Looks at its signal" }, async (context) => ({
        content: [{ type: "text", text: String((context.mcpReq ?? context).signal.aborted) }],
      }));`,
    },
    PATIENT,
  );

  expect(provider.problems).toEqual([]);
  for (const name of ["sum", "sum_of_two"]) {
    expect(findMethod(provider, `MathSkill.${name}`)).toMatchObject({
      description: "Adds numbers",
      input: { properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a"] },
      metadata: { readOnly: true, openWorld: false },
    });
    await expect(call(provider, `MathSkill.${name}`, { a: 2 })).resolves.toEqual({ sum: 3 });
  }
  await expect(call(provider, "MathSkill.fail")).rejects.toThrow("no luck");
  await expect(call(provider, "MathSkill.signalled")).resolves.toBe("false");
});
