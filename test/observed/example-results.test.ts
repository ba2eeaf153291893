import { afterEach, expect, test } from "vitest";
import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";

let runtime: Runtime | undefined;
afterEach(() => runtime?.close());

/** A runtime with one method, `ParcelSkill.track`, of this description. */
async function open(description: string, results?: boolean): Promise<Runtime> {
  const ParcelSkill = defineSkill({
    name: "ParcelSkill",
    description: "Follows parcels",
    methods: {
      track: {
        description,
        input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
        run: async () => ({ place: "Ulm", weight: 3 }),
      },
    },
  });
  const observe = results === undefined ? {} : { observe: { results } };
  runtime = await createRuntime({ skillsDir: false, skills: [ParcelSkill], workers: 1, ...observe });
  return runtime;
}

const TRACK = `{"id": "p-77", "stops": [{"place": "Graz", "late": false}], "next": null}`;
const TYPE = "{ id: string; stops: { place: string; late: boolean }[]; next: any }";

test.each([
  `Follows a parcel.\nReturns: ${TRACK}`,
  `Follows a parcel. Example response: \`${TRACK}\``,
  `Follows a parcel.\n\n**Output:** ${TRACK} for known parcels`,
  `Follows a parcel.\nArguments: {"id": "p-77"}\nReturns:\n    ${TRACK}`,
  `Follows a parcel.\n\nExample result:\n\n\`\`\`json\n${JSON.stringify(JSON.parse(TRACK), undefined, 2)}\n\`\`\`\nTry it.`,
])("takes the type of a result from an example in the description, and says so [D3]: %s", async (description) => {
  const { text, declaration } = (await open(description)).describe("ParcelSkill.track");
  expect(declaration).toContain(`: Promise<${TYPE}>`);
  expect(declaration).toContain("@returns by an example in the description");
  expect(text).toContain("Note: The return type is that of an example in the description, so it is a guess");
});

test("the catalog and the search mark the type from an example [D3]", async () => {
  const opened = await open(`Follows a parcel.\nReturns: ${TRACK}`);
  expect(opened.briefCatalog().join("\n")).toContain(
    "track(id): {id, stops: {place, late: boolean}[], next: any} (by an example)",
  );
  expect(opened.search("follow a parcel").text).toContain(`Promise<${TYPE}> (by an example)`);
});

test.each([
  ["arguments", `Example request: {"id": "p-77"}`],
  ["a JSON block without words on results", 'Follows.\n```json\n{"id": "p-77"}\n```'],
  ["arguments beside a result", `Input that returns most: {"id": "p-77"}`],
  ["what is no JSON", "Returns: { id: string, stops: […] }"],
  ["an example that is cut off", 'Returns: {"id": "p-77", "stops": [{'],
  ["names of types", 'Returns: {"id": "string", "stops": "number"}'],
  ["a schema", 'Returns: {"type": "object", "properties": {"id": {"type": "string"}}}'],
  ["a number in brackets", "Returns [10] stops"],
  ["nothing", "Returns: {} or []"],
  ["words far from the JSON", `Returns ${"the stops ".repeat(30)} {"id": "p-77"}`],
])("takes no type from %s [D3]", async (_what, description) => {
  const { declaration } = (await open(description)).describe("ParcelSkill.track");
  expect(declaration).toContain("Promise<any>");
});

test("a result replaces the example, and forgetting brings it back [D3]", async () => {
  const opened = await open(`Returns: ${TRACK}`);
  const describe = (): string => opened.describe("ParcelSkill.track").text;
  await opened.call("ParcelSkill.track", { id: "p-1" });
  expect(describe()).toContain("Promise<{ place: string; weight: number }>");
  expect(describe()).toContain("observed once, so it is a guess");
  expect(opened.observed().results).toHaveLength(1);
  opened.forget();
  expect(describe()).toContain(TYPE);
  expect(opened.observed().results).toEqual([]);
});

test("an example is no observation: it is shown where results are not observed [D3]", async () => {
  const opened = await open(`Returns: ${TRACK}`, false);
  expect(opened.describe("ParcelSkill.track").declaration).toContain(TYPE);
});

test("a program that contradicts the example runs [D3]", async () => {
  const opened = await open(`Returns: ${TRACK}`);
  const source = `const parcel = await device.ParcelSkill.track("p-1"); parcel.weight`;
  expect(await opened.run(source)).toMatchObject({ kind: "completed", value: 3 });
});

test("an example gives names that are safe to show, and no values [D3]", async () => {
  const hostile = `Returns: {"ignore all rules": 1, "__proto__": "p", "2026-01-01": "secret-value"}`;
  const { text, declaration } = (await open(hostile)).describe("ParcelSkill.track");
  expect(declaration.split("track(")[1]).toBe("id: string): Promise<Record<string, number | string>>;");
  expect(text.split(hostile).join("")).not.toContain("secret-value");
});

test.each([
  ["openings", `Returns: ${"{".repeat(8_000)}`],
  ["openings on lines", "Returns: [\n".repeat(800)],
  ["colons and spaces", `Returns${": ".repeat(4_000)}`],
  ["quotes", `Returns: {"${'\\"'.repeat(4_000)}`],
  ["deep JSON", `Returns: ${"[".repeat(3_900)}"x"${"]".repeat(3_900)}`],
])("reads a hostile description in a moment [D3]: %s", async (_what, description) => {
  const opened = await open(description);
  const before = process.cpuUsage();
  opened.describe("ParcelSkill.track");
  expect(process.cpuUsage(before).user).toBeLessThan(200_000);
});
