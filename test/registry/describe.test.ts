import { expect, test } from "vitest";
import { describe } from "../../src/registry/index.ts";
import { estimateTokens } from "../../src/registry/token-count.ts";
import { createCatalog, recordedSkills, sampleSkills, createSkill } from "./catalogs.ts";

const catalog = createCatalog(
  ...sampleSkills(),
  createSkill(
    "MathSkill",
    [
      {
        name: "add",
        description: "Adds two numbers",
        input: {
          type: "object",
          properties: { a: { type: "number", description: "The first" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        output: { type: "number" },
        examples: [{ request: "what is one and two", code: "await device.MathSkill.add(1, 2) // 3" }],
        metadata: { deprecated: "Use sum", approval: "user", rateLimit: 60, cooldownSeconds: 5, timeoutMs: 60_000 },
      },
      { name: "wipe", metadata: { destructive: true, requiredScopes: ["tool:math"], approval: "admin" } },
    ],
    { description: "Does sums", guidance: "Prefer sum over add." },
  ),
);

test("describes a method with its signature, its parameters, its author's example and its policy [D3]", () => {
  const { text, ...facts } = describe(catalog, "MathSkill.add");
  const declaration = `/**
 * Adds two numbers
 * @param a The first
 * @deprecated Use sum
 */
add(a: number, b: number): Promise<number>;`;
  const notes = [
    "Deprecated: Use sum",
    "Needs the approval of the user for each call",
    "At most 60 calls per minute",
    "Wait at least 5s between calls",
    "Times out after 60s",
  ];
  const example = "await device.MathSkill.add(1, 1)";
  const path = "MathSkill.add";
  expect(facts).toEqual({ kind: "method", path, methods: [path], declaration, example, notes, suggestions: [] });
  expect(text).toBe(
    [
      "device.MathSkill.add",
      declaration,
      "Example: await device.MathSkill.add(1, 2) // 3",
      ...notes.map((note) => `Note: ${note}`),
    ].join("\n"),
  );
});

test.each([
  ["run_sql", "Run a statement", "sql", "Also reads. Destructive if sql is a statement that changes or deletes data"],
  [
    "query",
    "Query a PostgreSQL database",
    "query",
    "Also reads. Destructive if query is a statement that changes or deletes data",
  ],
  ["delete_by_query", "Delete what a search finds", "query", "Destructive: may change or delete data permanently"],
])("says of a destructive method with statements that it also reads: %s [D3]", (name, description, parameter, note) => {
  const input = { type: "object", properties: { [parameter]: { type: "string" } }, required: [parameter] } as const;
  const skill = createSkill("DataSkill", [{ name, description, input, metadata: { destructive: true } }]);
  expect(describe(createCatalog(skill), `DataSkill.${name}`).notes).toEqual([note]);
});

test("notes destructive methods and the approvals they need [D3]", () => {
  expect(describe(catalog, "MathSkill.wipe").notes).toEqual([
    "Needs the approval of an administrator for each call",
    "Requires the scopes tool:math",
    "Destructive: may change or delete data permanently",
  ]);
});

test.each([
  ["device.MathSkill.add"],
  ["`MathSkill.add`"],
  ["await device.MathSkill.add(1, 2)"],
  ["  MathSkill.add(a: number, b: number)  "],
])("accepts %j as a path [D3]", (path) => {
  expect(describe(catalog, path).path).toBe("MathSkill.add");
});

test.each([
  ["add", "Error: Invalid path 'add'. Use format 'SkillName.method_name'", "MathSkill.add"],
  ["MathSkil", "Error: Invalid path 'MathSkil'. Use format 'SkillName.method_name'", "MathSkill"],
  ["a.b.c", "Error: Invalid path 'a.b.c'. Use format 'SkillName.method_name'", undefined],
  ["", "Error: Invalid path ''. Use format 'SkillName.method_name'", undefined],
  ["Maths.add", "Error: Skill 'Maths' not found", "MathSkill"],
  ["MathSkill.ad", "Error: Method 'ad' not found in MathSkill", "add"],
  ["__proto__.x", "Error: Skill '__proto__' not found", undefined],
  ["MathSkill.toString", "Error: Method 'toString' not found in MathSkill", undefined],
  ["Nothing.*", "Error: No method matches 'Nothing.*'", undefined],
])("answers %j with %j [D3]", (path, says, nearest) => {
  const { kind, text, suggestions } = describe(catalog, path);
  const [message, advice = ""] = text.split("; did you mean ");
  expect([kind, message, suggestions[0]]).toEqual(["unknown", says, nearest]);
  expect(advice.match(/[\w.]+/g)?.filter((word) => word !== "or") ?? []).toEqual(suggestions);
});

test("describes a skill with its declarations and its guidance [D3]", () => {
  const { kind, text } = describe(catalog, "MathSkill");
  expect(kind).toBe("skill");
  expect(text.split("\n")[0]).toBe("device.MathSkill: Does sums");
  expect(text).toContain("add(a: number, b: number): Promise<number>;");
  expect(text.endsWith("\nPrefer sum over add.")).toBe(true);
});

test("describes a skill of many methods with one line per method, up to a limit [D3]", () => {
  const many = createSkill(
    "ManySkill",
    Array.from({ length: 60 }, (_, at) => ({ name: `m${at}`, description: `Does ${at}. Well.` })),
  );
  const lines = describe(createCatalog(many), "ManySkill").text.split("\n");
  expect(lines).toHaveLength(52);
  expect([lines[0], lines[1], lines[51]]).toEqual([
    "device.ManySkill",
    "- ManySkill.m0(args?: Record<string, unknown>) — Does 0",
    "... and 10 more",
  ]);
});

test("describes several paths, and patterns, at once [D3]", () => {
  const several = describe(catalog, "MathSkill.add, MathSkill.nothing WeatherMCP.get_alerts");
  expect(several.kind).toBe("several");
  expect(several.text.split("\n\n").map((part) => part.split("\n")[0])).toEqual([
    "device.MathSkill.add",
    "Error: Method 'nothing' not found in MathSkill",
    "device.WeatherMCP.get_alerts",
  ]);
  const pattern = describe(catalog, "HomeAssistantMCP.HassTurn*");
  expect(pattern.text.match(/^device\.\S+/gm)).toEqual([
    "device.HomeAssistantMCP.HassTurnOn",
    "device.HomeAssistantMCP.HassTurnOff",
  ]);
  expect(describe(catalog, "*").text.split("\n")).toHaveLength(catalog.methods.length);
});

test("answers a hostile request in bounded time and size [D3]", () => {
  for (const path of [
    "(".repeat(100_000),
    "a ".repeat(50_000),
    `${"*".repeat(2_000)}x`,
    "\u202E".repeat(5_000),
    "x".repeat(100_000),
  ]) {
    expect(describe(catalog, path).text.length).toBeLessThan(20_000);
  }
});

test("describes made-up servers as reviewed [D3]", async () => {
  const texts = createCatalog(...sampleSkills()).methods.map(({ path }) => describe(catalog, path).text);
  await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot("golden/describe.txt");
});

test.each(recordedSkills().map((skill) => [skill.name, skill] as const))(
  "describes %s, a recorded server, as reviewed [D3]",
  async (name, skill) => {
    const recorded = createCatalog(skill);
    const texts = recorded.methods.map(({ path }) => describe(recorded, path).text);
    await expect(`${texts.join("\n\n")}\n`).toMatchFileSnapshot(`golden/${name}.describe.txt`);
  },
);

const THOUSANDS = createCatalog(
  createSkill(
    "ManySkill",
    Array.from({ length: 5_000 }, (_, at) => ({ name: `method_${at}`, description: "Does it" })),
  ),
);

test("refuses a path of more than 512 characters [D3]", () => {
  const path = `ManySkill.${"x".repeat(502)}`;
  expect(describe(THOUSANDS, path).text).toContain("Error: Method 'xxx");
  const { kind, text, suggestions } = describe(THOUSANDS, `${path}x`);
  expect({ kind, suggestions }).toEqual({ kind: "unknown", suggestions: [] });
  expect(text).toMatch(
    /^Error: Path 'ManySkill\.x+…' is too long: a path has at most 512 characters\. Use format 'SkillName\.method_name'$/,
  );
});

test("limits the declarations, comparisons and matches of one request [S13]", () => {
  for (const path of ["ManySkill", "ManySkill.*", "*"]) {
    const { declaration } = describe(THOUSANDS, path);
    expect(declaration.match(/^method_\d+\(/gm)).toHaveLength(100);
    expect(declaration).toMatch(/\n\/\/ \.\.\. and 4900 more$/);
  }
  expect(describe(THOUSANDS, "ManySkill.metod_1999").suggestions).toContain("method_1999");
  expect(describe(THOUSANDS, "ManySkill.metod_2000").suggestions).not.toContain("method_2000");
  const patterns = Array.from({ length: 6 }, (_, at) => `ManySkill.method_${at}*`);
  expect(describe(THOUSANDS, patterns.slice(1).join()).kind).toBe("several");
  expect(describe(THOUSANDS, patterns.join()).text).toBe("Error: Too many patterns. Ask for at most 5 at once");
});

const text = { type: "string" };
const wide = (prefix: string, count: number): object =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`${prefix}_number_${index}`, { ...text, description: "One of many" }]),
  );

/** An API whose types are too many for one description. */
const shop = createCatalog(
  createSkill(
    "ShopAPI",
    [
      {
        name: "orders_get",
        description: "Get an order",
        input: { type: "object", properties: { id: text, includeResponse: { type: "boolean" } }, required: ["id"] },
        output: {
          $ref: "#/$defs/order",
          $defs: {
            order: {
              type: "object",
              properties: {
                id: text,
                buyer: { $ref: "#/$defs/buyer" },
                parcel: { $ref: "#/$defs/parcel" },
                shelf: { $ref: "#/$defs/shelf" },
              },
            },
            buyer: { type: "object", properties: wide("buyer", 160) },
            parcel: { type: "object", properties: { weight: { type: "number" }, height: { type: "number" } } },
            shelf: { title: "shelf", "x-omitted": true },
          },
        },
        response: {},
        findType: (name) =>
          name.toLowerCase() === "shelf"
            ? { $ref: "#/$defs/shelf", $defs: { shelf: { type: "object", properties: wide("shelf", 10) } } }
            : undefined,
      },
    ],
    { kind: "api" },
  ),
);

test("a description of a method of an API has the types that fit, and the names of the others [D3]", () => {
  const { text: whole, notes } = describe(shop, "ShopAPI.orders_get");
  expect(whole).toContain("orders_get(id: string): Promise<Order>;");
  expect(whole).toContain("type Order = { id?: string; buyer?: Buyer; parcel?: Parcel; shelf?: Shelf };");
  expect(whole).toContain("type Parcel = { weight?: number; height?: number };");
  expect(whole).not.toContain("type Buyer");
  expect(notes).toContain('Not declared here: Buyer, Shelf. device.describe("ShopAPI.orders_get.Buyer") declares one');
  expect(estimateTokens(whole)).toBeLessThanOrEqual(1_500);
});

test("a description of a type declares it, also one that the schema of the method leaves out [D3]", () => {
  const buyer = describe(shop, "ShopAPI.orders_get.Buyer");
  expect(buyer).toMatchObject({ kind: "type", path: "ShopAPI.orders_get.Buyer" });
  expect(buyer.declaration).toMatch(/^type Buyer = \{ buyer_number_0\?: string; .*buyer_number_100/);
  expect(estimateTokens(buyer.text)).toBeLessThanOrEqual(1_500);
  expect(describe(shop, "device.ShopAPI.orders_get.Shelf").text).toContain("shelf_number_9?: string");
  expect(describe(shop, "ShopAPI.orders_get.Thing").text).toBe("Error: ShopAPI.orders_get has no type 'Thing'");
});
