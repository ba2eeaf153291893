import { expect, onTestFinished, test } from "vitest";
import { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import type { Expose } from "../../../src/surfaces/mcp/index.ts";
import { getServerTexts } from "../../../src/surfaces/mcp/instructions.ts";
import { OWNER } from "../../../src/model/caller.ts";
import { createSkill, recordedSkills } from "../../registry/catalogs.ts";
import { onToolsChanged, serve } from "../serving.ts";

const CUT = 2_048;

async function open(options: Parameters<typeof createRuntime>[0] = {}): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills: recordedSkills(), workers: 1, ...options });
  onTestFinished(() => runtime.close());
  return runtime;
}

function texts(runtime: Runtime, clientName: string, expose: Expose = "code") {
  const exposure = { expose, names: "qualified", budgetTokens: 10_000 } as const;
  return getServerTexts(runtime, { caller: OWNER, exposure }, clientName);
}

test("the texts for each client are as agreed, whole and cut at 2,048 characters [V1]", async () => {
  const runtime = await open();
  for (const client of ["claude-code", "other"]) {
    const { instructions, description } = texts(runtime, client);
    await expect(`${instructions}\n`).toMatchFileSnapshot(`golden/${client}.instructions.txt`);
    await expect(`${description}\n`).toMatchFileSnapshot(`golden/${client}.run_code.txt`);
    await expect(`${instructions.slice(0, CUT)}\n`).toMatchFileSnapshot(`golden/${client}.instructions.cut.txt`);
  }
});

test("what is left of a text after a cut at 2,048 characters is complete [V1]", { tags: "rest" }, async () => {
  const runtime = await open();
  const { instructions, description } = texts(runtime, "other");
  expect(instructions.length).toBeGreaterThan(3 * CUT);
  expect(description.length).toBeLessThanOrEqual(CUT);
  const end = instructions.indexOf("\n\n## More of the catalog");
  expect(end).toBeLessThanOrEqual(CUT);
  expect(instructions.slice(0, end).split("\n").at(-1)).toMatch(
    /^Further methods, in the rest of the catalog or by search_skills: .*PlaywrightMCP$/,
  );
});

test("a client that cuts texts reads other methods in the instructions than in the description of run_code [V1]", async () => {
  const { instructions, description } = texts(await open(), "claude-code");
  expect(instructions.length).toBeLessThanOrEqual(CUT);
  expect(description.length).toBeLessThanOrEqual(CUT);
  const methods = (text: string): readonly string[] => text.match(/^ {2}\w+(?=\()/gm) ?? [];
  expect(methods(instructions).length).toBeGreaterThan(5);
  expect(methods(description).length).toBeGreaterThan(3);
  expect(methods(description).filter((name) => methods(instructions).includes(name))).toEqual([]);
});

test.each(["code", "calls", "tools", "both", "auto"] as const)(
  "exposed as %s, the texts are as agreed [V1]",
  async (expose) => {
    const runtime = await open({ skills: recordedSkills().slice(1, 2) });
    const { instructions, description } = texts(runtime, "claude-code", expose);
    await expect(`${instructions}\n\n=====\n\n${description}\n`).toMatchFileSnapshot(`golden/exposed-as-${expose}.txt`);
  },
);

test("tells models to search first without a budget, and for a catalog that is too large [V1]", async () => {
  const off = texts(await open({ catalogTokens: 0 }), "other");
  expect(off.instructions).toContain("Search first unless you know the method");
  expect(off.instructions + off.description).not.toContain("git_");
  const methods = Array.from({ length: 1_001 }, (_, at) => ({ name: `method_${at}` }));
  const large = texts(await open({ skills: [createSkill("LargeMCP", methods)] }), "other");
  expect(large.instructions).toMatch(/Search first[^]*\n\nFurther methods, by search_skills: LargeMCP 1001$/);
  await expect(open({ catalogTokens: -1 })).rejects.toThrow(
    "catalogTokens must be a whole number from 0 to 100000, not -1",
  );
});

test("counts only methods that no text of a client shows, and calls none of the others hidden [V1]", async () => {
  const { instructions, description } = texts(await open(), "other");
  const lines = `${instructions}\n${description}`.match(/^Further methods.*$/gm) ?? [];
  const counted = lines.filter((line) => /MCP \d/.test(line));
  expect(counted).toEqual([expect.stringMatching(/^Further methods, by search_skills: /)]);
  const small = texts(await open({ skills: recordedSkills().slice(1, 2), catalogTokens: 20_000 }), "other");
  expect(small.instructions).not.toContain("search_skills:");
});

test("speaks of methods that are tools only where there are some [V1]", async () => {
  const runtime = await open({ skills: recordedSkills().slice(1, 2) });
  const sentence = "listed as a tool of its own";
  expect(texts(runtime, "other", "auto").instructions).toContain(sentence);
  const exposure = { expose: "auto", names: "qualified", budgetTokens: 100 } as const;
  const { instructions } = getServerTexts(runtime, { caller: OWNER, exposure }, "other");
  expect(instructions).not.toContain(sentence);
});

test("the same catalog gives the same texts while its methods are used [V1]", async () => {
  const skill = defineSkill({
    name: "PlainSkill",
    description: "",
    methods: {
      read: { description: "Reads", input: { type: "object" }, readOnly: true, run: () => ({ rows: [{ id: 1 }] }) },
    },
  });
  const runtime = await open({ skills: [skill] });
  const before = texts(runtime, "other");
  expect(before.instructions).toContain("\nPlainSkill\n  read(args?)");
  for (const _ of [1, 2, 3]) await runtime.call("PlainSkill.read", {});
  expect(texts(runtime, "other")).toEqual(before);
  runtime.register({ ...skill, name: "OtherSkill" });
  expect(texts(runtime, "other").instructions).toContain("\nPlainSkill\n  read(args?): {rows: {id: number}[]}");
});

test.each(["legacy", "auto"] as const)(
  "a client that negotiates as %s gets the texts for its name [V1]",
  async (mode) => {
    const { url, runtime } = await serve({ expose: "code" }, { skills: recordedSkills() });
    for (const name of ["claude-code", "other"]) {
      const client = new NewClient({ name, version: "1" }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
      const { tools } = await client.listTools();
      const { instructions, description } = texts(runtime, name);
      expect(client.getInstructions()).toBe(instructions);
      expect(tools.find((tool) => tool.name === "run_code")?.description).toBe(description);
      await client.close();
    }
  },
);

test("lists tools without waiting for a slow server; methods that come later are announced [V1]", async () => {
  const { url, runtime } = await serve(
    { expose: "code" },
    { mcpServers: { fixture: { command: process.execPath, args: ["test/fixtures/mcp/server.js", "hang"] } } },
  );
  const client = new NewClient({ name: "claude-code", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  const changed = new Promise<void>((resolve) => onToolsChanged(client, resolve));
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
  onTestFinished(() => client.close());
  const read = async () => (await client.listTools()).tools.find(({ name }) => name === "run_code")?.description ?? "";
  expect(client.getInstructions()).toContain("TestSkill\n  add(a: 0.., b: number): {sum: number}");
  expect(await read()).not.toContain("LateSkill");
  expect(runtime.servers).toMatchObject([{ status: "connecting" }]);
  runtime.register(createSkill("LateSkill", [{ name: "come" }]));
  await changed;
  expect(texts(runtime, "claude-code").instructions).toContain("LateSkill\n  come(args?)");
});
