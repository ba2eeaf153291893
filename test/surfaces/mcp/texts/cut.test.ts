import { expect, onTestFinished, test } from "vitest";

import { OWNER } from "../../../../src/model/caller.ts";
import type { ProvidedSkill } from "../../../../src/model/skill.ts";
import { createRuntime } from "../../../../src/runtime.ts";
import { toSkillName } from "../../../../src/shared/names/skill-names.ts";
import { getServerTexts } from "../../../../src/surfaces/mcp/instructions.ts";
import { createSkill } from "../../../registry/catalogs.ts";

interface WorldTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean };
}

/** The world of the benchmark of models: twelve services with ten tools each. */
const WORLD = (await import(new URL("../../../bench/models/live/world.mjs", import.meta.url).href)) as {
  readonly SERVICES: Readonly<Record<string, unknown>>;
  readonly makeTools: (service: string) => readonly WorldTool[];
};

/** The methods that the eighteen tasks of the benchmark need. */
const NEEDED = [
  ["ShopMCP.list_orders"],
  ["DeskMCP.count_tickets"],
  ["DeskMCP.list_tickets"],
  ["CalendarMCP.list_events"],
  ["CrmMCP.list_accounts"],
  ["BillingMCP.list_invoices", "CrmMCP.list_accounts"],
  ["StockMCP.list_articles"],
  ["PeopleMCP.list_employees"],
  ["DeploysMCP.list_releases"],
  ["LibraryMCP.list_books"],
  ["SensorsMCP.list_readings"],
  ["MailMCP.list_messages"],
  ["TravelMCP.list_trips", "DeskMCP.list_tickets", "ShopMCP.list_orders"],
  ["CrmMCP.get_account"],
  ["DeskMCP.add_ticket_comment"],
  ["DeskMCP.list_tickets", "DeskMCP.update_ticket"],
  ["BillingMCP.list_invoices", "BillingMCP.create_invoice"],
  ["TravelMCP.list_trips", "TravelMCP.delete_trip"],
];

const CUT = 2_048;

async function cutTexts(skills: readonly ProvidedSkill[], clientName: string) {
  const runtime = await createRuntime({ skillsDir: false, skills, workers: 1 });
  onTestFinished(() => runtime.close());
  const exposure = { expose: "code", names: "qualified", budgetTokens: 10_000 } as const;
  const { instructions, description } = getServerTexts(runtime, { caller: OWNER, exposure }, clientName);
  return { instructions: instructions.slice(0, CUT), description: description.slice(0, CUT) };
}

function worldSkills(): readonly ProvidedSkill[] {
  return Object.keys(WORLD.SERVICES).map((service) => {
    const methods = WORLD.makeTools(service).map(({ name, description, inputSchema, annotations }) => ({
      name,
      description,
      input: inputSchema,
      metadata: { readOnly: annotations.readOnlyHint, destructive: annotations.destructiveHint ?? false },
    }));
    return createSkill(toSkillName(service), methods, { kind: "mcp", server: service, description: "" });
  });
}

/** Returns the paths of the methods that a text shows with their parameters. */
function findShown(text: string): ReadonlySet<string> {
  let skill = "";
  const shown = new Set<string>();
  for (const line of text.split("\n")) {
    skill = /^\w+MCP$/.exec(line)?.[0] ?? skill;
    const name = /^ {2}(\w+)\(/.exec(line)?.[1];
    if (name !== undefined) shown.add(`${skill}.${name}`);
  }
  return shown;
}

test.each(["claude-code", "other"])(
  "a text that %s cuts says how to write programs, names every server and shows what most tasks need [V1] [D4]",
  async (clientName) => {
    const skills = worldSkills();
    const { instructions, description } = await cutTexts(skills, clientName);
    expect(instructions).toContain("device.Skill.method(…) in run_code");
    expect(description).toContain("device.Skill.method({ name: value })");
    for (const { name } of skills) expect(instructions).toContain(name);
    const shown = findShown(instructions);
    expect(NEEDED.filter((methods) => methods.every((path) => shown.has(path))).length).toBeGreaterThanOrEqual(13);
  },
);

test(
  "a text that is cut names each of forty servers, and says how many of two hundred it does not [V1] [D4]",
  { tags: "rest" },
  async () => {
    const methods = Array.from({ length: 5 }, (_, at) => ({ name: `method_${at}` }));
    const create = (count: number) =>
      Array.from({ length: count }, (_, at) => createSkill(`Service${at}MCP`, methods, { kind: "mcp" }));
    const few = await cutTexts(create(40), "other");
    for (const { name } of create(40)) expect(few.instructions).toContain(name);
    const many = await cutTexts(create(200), "other");
    expect(many.instructions).toMatch(/\nFurther methods, .*: Service0MCP, .*, and 1\d\d more skills/);
  },
);
