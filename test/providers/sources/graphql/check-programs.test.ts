import { afterAll, beforeAll, expect, test } from "vitest";

import { createRuntime, type Runtime } from "../../../../src/index.ts";
import { OWNER } from "../../../../src/model/caller.ts";
import type { MethodDefinition, ProvidedSkill } from "../../../../src/model/skill.ts";
import { createQueryChecker } from "../../../../src/providers/sources/graphql/check/index.ts";
import { answerDotCommand, type TryContext } from "../../../../src/surfaces/cli/try/dot-commands.ts";
import { TRACKER_SDL } from "./tracker-schema.ts";

const checker = createQueryChecker({ name: "tracker", read: () => TRACKER_SDL });
const calls: unknown[] = [];
let runtime: Runtime;

beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: false, skills: [createSkill()], typecheck: true });
});

afterAll(async () => {
  await runtime.close();
  await checker.close();
});

/** A skill with the methods of a GraphQL API and its real checker, which sends nothing. */
function createSkill(): ProvidedSkill {
  const write = (name: "query" | "mutate", kind: "query" | "mutation"): MethodDefinition => ({
    name,
    description: `Send a ${kind}`,
    input: {
      type: "object",
      properties: { query: { type: "string" }, variables: { type: "object" } },
      required: ["query"],
      additionalProperties: false,
    },
    metadata: { readOnly: kind === "query" },
    queryText: {
      argument: "query",
      variables: "variables",
      async check(text, variables) {
        const { problems, fields, output } = await checker.check(kind, text, variables);
        return { problems, parts: fields.map((field) => `${name}:${field}`), ...(output !== undefined && { output }) };
      },
    },
  });
  return {
    name: "TrackerGraph",
    description: "Issues",
    source: "test",
    kind: "api",
    methods: [write("query", "query"), write("mutate", "mutation")],
    parts: [{ name: "query:issue", partOf: "query", description: "", input: {}, metadata: { readOnly: true } }],
    invoke: async (_method, input) => {
      calls.push(input);
      return { issues: { totalCount: 0, nodes: [] } };
    },
  };
}

async function findViolations(source: string): Promise<readonly (readonly unknown[])[]> {
  calls.length = 0;
  const outcome = await runtime.run(source);
  expect(calls).toEqual([]);
  expect(outcome.kind).toBe("refused");
  const violations = outcome.kind === "refused" ? outcome.violations : [];
  return violations.map(({ code, line, column, endColumn, suggestions }) => [
    code,
    line,
    column,
    endColumn,
    suggestions,
  ]);
}

test("refuses a wrong field at its place in the literal, before anything runs", async () => {
  const source =
    "const x = 1;\nconst { issues } = await device.TrackerGraph.query({\n  query: `{\n    issues { nodes { titel } }\n  }`\n});\nreturn issues;";
  expect(await findViolations(source)).toEqual([["QUERY_INVALID", 4, 21, 26, ["title", "state"]]]);
  const outcome = await runtime.run(source);
  expect(outcome.text).toContain(
    'Cannot send this query: TrackerGraph.query: Cannot query field "titel" on type "Issue"; did you mean "title" or "state"? (QUERY_INVALID)',
  );
  expect(outcome.text).toContain("4 |     issues { nodes { titel } }");
  expect(outcome.text).toContain("Write title or state");
});

test.each([
  ["a constant", 'const text = "{ me { nmae } }";\nawait device.TrackerGraph.query({ query: text });', [1, 21, 25]],
  ["by position", 'await device.TrackerGraph.query("{ me { nmae } }");', [1, 40, 44]],
  ["escapes: the whole literal", 'await device.TrackerGraph.query({ query: "{ me\\n { nmae } }" });', [1, 41, 60]],
  ["a sum: the whole expression", 'await device.TrackerGraph.query({ query: "{ me " + "{ nmae } }" });', [1, 41, 63]],
])("finds the place of a mistake in %s", async (_what, source, [line, column, endColumn]) => {
  expect(await findViolations(source)).toEqual([["QUERY_INVALID", line, column, endColumn, ["name"]]]);
});

const ISSUE = "{ issue(number: 1) { title } }";

test.each([
  ["gql", `await device.TrackerGraph.query({ query: gql\`${ISSUE}\` });`],
  ["graphql", `const TEXT = graphql\`${ISSUE}\`;await device.TrackerGraph.query({ query: TEXT });`],
  ["gql", `await device.TrackerGraph.query(gql\`${ISSUE}\`);`],
])("reads a text without its tag %s", async (tag, source) => {
  const column = source.indexOf("title");
  expect(await findViolations(source.replace("title", "titel"))).toEqual([
    ["QUERY_INVALID", 1, column, column + 5, ["title", "state"]],
  ]);
  expect(await runtime.run(source)).toMatchObject({ kind: "completed", notes: [`${tag}\`…\` was read as \`…\``] });
  expect(calls).toEqual([{ query: ISSUE }]);
});

test(
  "checks the uses of a result by the selection of a text with a tag",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const { violations } = await runtime.checkTypes(
      `const { issue } = await device.TrackerGraph.query({ query: gql\`${ISSUE}\` });\nreturn issue.titel;`,
    );
    expect(violations.map(({ suggestions }) => suggestions)).toEqual([["title"]]);
  },
);

test("leaves out a tag in front of a text with parts", async () => {
  calls.length = 0;
  const outcome = await runtime.run(
    "const FIELDS = gql`fragment F on Issue { title }`;\nawait device.TrackerGraph.query({ query: gql` { issue(number: 1) { ...F } } ${FIELDS}` });",
  );
  expect(outcome).toMatchObject({ kind: "completed" });
  expect(calls).toEqual([{ query: " { issue(number: 1) { ...F } } fragment F on Issue { title }" }]);
});

test("leaves a tag that the program declares, and says what to write instead of other uses", async () => {
  calls.length = 0;
  const own = `const gql = ([text]) => text;\nawait device.TrackerGraph.query({ query: gql\`${ISSUE}\` });`;
  expect(await runtime.run(own)).toMatchObject({ kind: "completed", notes: [] });
  expect(calls).toEqual([{ query: ISSUE }]);
  const fix = "Write the text as a plain template literal, without a tag or a function";
  // Without its tag, the second text would continue the line before it; the third one is no text without its tag.
  for (const source of [`gql("${ISSUE}");`, `const a = device\ngql\`${ISSUE}\``, "const a = gql`\\u`;"])
    expect((await runtime.run(source)).text).toContain(fix);
});

test("checks literal variables at their place, and leaves those that are computed to the call", async () => {
  const write = (variables: string): string =>
    `const n = [1].length;\nreturn await device.TrackerGraph.query({ query: "query($n: Int!) { issue(number: $n) { id } }", variables: ${variables} });`;
  expect(await findViolations(write('{ n: "1" }'))).toEqual([["QUERY_INVALID", 2, 107, 117, []]]);
  expect(await findViolations(write("{ m: n }"))).toHaveLength(2);
  expect(await runtime.run(write("{ n }"))).toMatchObject({ kind: "completed" });
  expect(
    await findViolations('await device.TrackerGraph.query({ query: "query($n: Int!) { issue(number: $n) { id } }" });'),
  ).toHaveLength(1);
});

test("reports mistakes of texts together with those of the gatekeeper", async () => {
  const source =
    'await device.TrackerGraph.query({ query: "{ me { nmae } }" });\nawait device.TrackerGraph.qeury({});\nawait device.TrackerGraph.mutate({ query: "{ me { id } } { me { id } }" });';
  expect((await findViolations(source)).map(([code, line]) => [code, line])).toEqual([
    ["QUERY_INVALID", 1],
    ["METHOD_UNKNOWN", 2],
    ["QUERY_INVALID", 3],
  ]);
});

test("names the root fields in the plan", async () => {
  const source =
    'await device.TrackerGraph.mutate({ query: "mutation { b: deleteIssue(id: 1) createIssue(input: { title: \\"a\\" }) { id } }" });';
  const { plan, violations } = await runtime.checkTexts(source);
  expect(violations).toEqual([]);
  expect(plan).toMatchObject([{ path: "TrackerGraph.mutate", parts: ["mutate:deleteIssue", "mutate:createIssue"] }]);
  expect((await runtime.checkTypes(source)).plan).toEqual(plan);
});

test("leaves a computed text to the call", async () => {
  const { violations, plan } = await runtime.checkTexts(
    "const f = [1].map(String)[0];\nawait device.TrackerGraph.query({ query: `{ ${f} }` });",
  );
  expect([violations, plan.map(({ parts }) => parts)]).toEqual([[], [undefined]]);
});

test("checks the uses of a result by the selection of its text", { timeout: 60_000 }, async () => {
  const check = async (use: string): Promise<readonly string[]> => {
    const query = "{ issues { totalCount nodes { title author { ... on User { name } ... on Bot { version } } } } }";
    const source = `const result = await device.TrackerGraph.query({ query: "${query}" });\nconst other = await device.TrackerGraph.query("{ me { login } }");\nreturn ${use};`;
    return (await runtime.checkTypes(source)).violations.map(
      ({ message, suggestions }) => `${suggestions.join()}: ${message}`,
    );
  };
  expect(await check("result.issues.nodes[0].titel")).toEqual([
    expect.stringMatching(/^title: .*"titel" does not exist/),
  ]);
  expect(await check("result.isues")).toEqual([expect.stringMatching(/^issues: /)]);
  expect(await check("other.me.lgoin")).toEqual([expect.stringMatching(/^login: /)]);
  expect(
    await check(
      "result.issues.nodes.map((each) => [each.title, each.author.name, each.author.version, other.me.login])",
    ),
  ).toEqual([]);
});

test("checks the literal queries of a program that is about to run, and of the command .plan", async () => {
  const wrong = 'await device.TrackerGraph.query({ query: "{ me { nmae } }" });';
  const right = 'await device.TrackerGraph.query({ query: "{ me { name } }" });';
  const view = runtime.viewFor(OWNER);
  expect((await view.plan(wrong)).violations).toMatchObject([{ code: "QUERY_INVALID", suggestions: ["name"] }]);
  expect((await view.plan(right)).plan).toMatchObject([{ parts: ["query:me"] }]);
  const out = { red: String, dim: String };
  const context = { runtime, session: { paint: { out } } } as unknown as TryContext;
  expect(runtime.check(wrong).violations).toEqual([]);
  expect(await answerDotCommand("plan", wrong, context)).toContain('did you mean "name"');
});
