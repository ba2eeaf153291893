import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import { expect, onTestFinished, test, vi } from "vitest";

import type { Runtime } from "../../../../src/index.ts";
import type { Caller } from "../../../../src/model/caller.ts";
import type { CheckOrder } from "../../../../src/providers/sources/graphql/check/protocol.ts";
import { shareProjectFolder, startProject } from "./project.ts";
import { TRACKER } from "./tracker.ts";

const getFolder = shareProjectFolder();

test("a schema becomes the methods query and mutate, whose root fields are parts with effects of their own [S5]", async () => {
  const { open } = await startProject([], getFolder());
  const runtime = await open({ effects: { "query:view": "write", "mutate:attach": "read" } });
  expect(runtime.problems).toEqual([]);
  const skill = runtime.catalog.skill("TrackerGraph");
  expect(skill?.methods.map(({ name, metadata }) => [name, metadata.readOnly, metadata.destructive])).toEqual([
    ["query", false, false],
    ["mutate", false, true],
  ]);
  const parts = new Map(skill?.parts.map((part) => [part.name, part]));
  expect([...parts.keys()].toSorted()).toEqual([
    "mutate:attach",
    "mutate:createIssue",
    "mutate:deleteIssue",
    "mutate:import",
    "query:broken",
    "query:issue",
    "query:issues",
    "query:me",
    "query:search",
    "query:view",
  ]);
  const effects = ["query:view", "query:issue", "mutate:attach", "mutate:createIssue", "mutate:deleteIssue"].map(
    (name) => {
      const { readOnly, destructive } = parts.get(name)?.metadata ?? {};
      return [readOnly, destructive];
    },
  );
  expect(effects).toEqual([
    [false, false],
    [true, false],
    [true, false],
    [false, false],
    [false, true],
  ]);
  expect(parts.get("query:issue")).toMatchObject({
    description: "Finds one issue by its number",
    signature: "issue(number: Int!): Issue",
    input: { properties: { number: { type: "integer" } }, required: ["number"] },
  });
  const [example] = parts.get("query:issue")?.definition.examples ?? [];
  expect(await runtime.run(`await ${example?.code}`)).toMatchObject({
    kind: "completed",
    value: { issue: { number: 1 } },
  });
  expect(skill?.provided.findTypeText?.("issue")).toContain("title: String!");
});

test("a query of a schema that has one type for queries and mutations counts as a mutation [S5]", async () => {
  const { open, server, cwd } = await startProject();
  const sdl = "schema { query: Root mutation: Root } type Root { version: String issues: Int deleteAll: Boolean }";
  writeFileSync(join(cwd, "tracker.graphql"), sdl);
  const policy = join(cwd, "tools.yaml");
  writeFileSync(policy, '"*": { requires_approval: writes }\n');
  const asked: string[] = [];
  const approve = (request: { readonly path: string }): false => {
    asked.push(request.path);
    return false;
  };
  const runtime = await open({ effects: { "query:issues": "read" } }, { policy, approve });
  const parts = runtime.catalog.skill("TrackerGraph")?.parts.filter(({ name }) => name.startsWith("query:")) ?? [];
  expect(parts.map(({ name, metadata }) => [name, metadata.readOnly, metadata.destructive])).toEqual([
    ["query:deleteAll", false, true],
    ["query:issues", true, false],
    ["query:version", false, false],
  ]);
  expect(parts.map(({ definition }) => definition.effectReason)).toEqual([
    'The effect is destructive, because its name has the word "delete"; sources.tracker.effects can say something else',
    'The effect is read: sources.tracker.effects has "query:issues": read',
    "The effect is write, because its schema has one type for queries and mutations; sources.tracker.effects can say something else",
  ]);
  for (const text of ["{ version }", "{ deleteAll }"])
    expect((await runtime.run(`await device.TrackerGraph.query({ query: "${text}" })`)).text).toContain(
      "APPROVAL_MISSING",
    );
  expect(asked).toEqual(["TrackerGraph.query:version", "TrackerGraph.query:deleteAll"]);
  expect(server.received).toEqual([]);
});

test("a root field that the settings leave out is refused, and says who offers it [S5]", async () => {
  const { open, server } = await startProject([], getFolder());
  const runtime = await open({ exclude: ["mutate:*", "query:me"] });
  expect(runtime.catalog.skill("TrackerGraph")?.methods.map(({ name }) => name)).toEqual(["query"]);
  const outcome = await runtime.run(
    'const name = "me"; await device.TrackerGraph.query({ query: "{ " + name + " { id } }" })',
  );
  expect(outcome.text).toContain(
    'The root field "me" is not offered: sources.tracker leaves it out; the owner offers it by "include" or "exclude"',
  );
  expect(
    await runtime.run("await device.TrackerGraph.mutate({ query: `mutation { deleteIssue(number: 1) }` })"),
  ).toMatchObject({
    kind: "refused",
  });
  expect(server.received).toEqual([]);
});

test(
  "a root field below another one is refused, asked about and named as at the root [S5]",
  { tags: "rest" },
  async () => {
    const { open, server, cwd } = await startProject();
    const nested = TRACKER.replace("type Query {", "type Query { relay: Query!").replace(
      "type Mutation {",
      "type Result { query: Query! }\ntype Mutation { touch: Result",
    );
    writeFileSync(join(cwd, "tracker.graphql"), nested);
    writeFileSync(join(cwd, "tools.yaml"), "TrackerGraph.query:issue: { requires_approval: true }\n");
    const asked: string[] = [];
    const approve = (request: { readonly path: string }): false => {
      asked.push(request.path);
      return false;
    };
    const runtime = await open({ exclude: ["query:me"] }, { policy: join(cwd, "tools.yaml"), approve });
    const send = async (method: string, text: string): Promise<string> =>
      (await runtime.run(`await device.TrackerGraph.${method}({ query: ["${text}"].join("") })`)).text;
    const refusal = 'The root field "me" is not offered';
    expect(await send("query", "{ relay { me { id } } }")).toContain(refusal);
    expect(await send("mutate", "mutation { touch { query { ... { me { id } } } } }")).toContain(refusal);
    expect(await send("query", "{ relay { issue(number: 1) { id } } }")).toContain("APPROVAL_MISSING");
    expect(await send("mutate", "mutation { touch { query { issue(number: 1) { id } } } }")).toContain(
      "APPROVAL_MISSING",
    );
    expect(asked).toEqual(["TrackerGraph.query:issue,relay", "TrackerGraph.mutate:query:issue,touch"]);
    expect(server.received).toEqual([]);
  },
);

test(
  "root fields that are held or removed say so, with the command that accepts them [S5]",
  { tags: "rest" },
  async () => {
    const { open, server, cwd } = await startProject();
    await (await open({ changes: "hold" })).close();
    writeFileSync(
      join(cwd, "tracker.graphql"),
      TRACKER.replace("me: User!", "me(deep: Boolean): User!").replace(/"Counts.*\n.*view.*\n/, ""),
    );
    const runtime = await open({ changes: "hold" });
    const refuse = async (text: string): Promise<string> => {
      const { kind, text: words } = await runtime.run(
        `const text = ["${text}"].join(""); await device.TrackerGraph.query({ query: text })`,
      );
      return kind === "completed" ? kind : words;
    };
    expect(await refuse("{ me { id } }")).toMatch(
      /The root field "me" has changed since .*skillgate source accept tracker/,
    );
    expect(await refuse("{ view(number: 1) }")).toContain('The root field "view" was removed: the');
    expect(await refuse("{ broke }")).toContain('"broken"');
    expect(await refuse("{ issue(number: 1) { id } }")).toBe("completed");
    expect(server.received).toHaveLength(1);
  },
);

test("a method of which all root fields are held or removed says so [S5]", { tags: "rest" }, async () => {
  const { open, cwd } = await startProject();
  const write = (sdl: string): void => writeFileSync(join(cwd, "tracker.graphql"), sdl);
  const calls = [
    "device.TrackerGraph.query({ query: '{ a }' })",
    "device.TrackerGraph.mutate({ query: 'mutation { b }' })",
  ];
  const refuse = async (): Promise<readonly string[]> => {
    const runtime = await open({ changes: "hold" });
    const texts: string[] = [];
    for (const code of calls) texts.push((await runtime.run(`await ${code}`)).text.split("\n")[2] ?? "");
    await runtime.close();
    return texts;
  };
  write("type Query { a: Int c: Int } type Mutation { b: Int }");
  await (await open({ changes: "hold" })).close();
  write("type Query { a: String d: Int c: Float }");
  expect(await refuse()).toEqual([
    "Cannot call a method whose definition is not accepted: TrackerGraph.query has no accepted root field: 3 have changed or were added since the operations were accepted; the owner accepts this with: skillgate source accept tracker (METHOD_HELD)",
    "Cannot call a method that its provider does not have any more: TrackerGraph.mutate was removed: the document of tracker does not have it any more (METHOD_REMOVED)",
  ]);
  write("type Query { a: Int c: Float } type Mutation { b: Int }");
  expect((await refuse())[0]).not.toContain("METHOD_HELD");
});

const ADA: Caller = { id: "ada", permissions: ["call:*"] };
const BOB: Caller = { id: "bob", permissions: ["call:*"] };
const TOKENS = { ada: "token-of-ada-4f9c2e71", bob: "token-of-bob-88a1c0d2" };

test("each caller makes requests with its own account, and a mutation with the one of its pattern [S5]", async () => {
  const { open, server, cwd } = await startProject([], getFolder());
  const runtime = await open(
    { account: { "*": "tracker", "mutate:*": "writer" } },
    {
      store: join(cwd, "store"),
      accounts: { tracker: { type: "bearer", for: "caller" }, writer: { type: "bearer", for: "caller" } },
    },
  );
  for (const { id } of [ADA, BOB]) {
    const token = TOKENS[id as keyof typeof TOKENS];
    await runtime.accounts.connect({ name: "tracker", owner: id }, [token]);
    await runtime.accounts.connect({ name: "writer", owner: id }, [`writer-${token}`]);
  }
  const run = (caller: Caller, code: string): ReturnType<Runtime["run"]> => runtime.run(code, { caller });
  const me = "await device.TrackerGraph.query({ query: `{ me { id name } }` })";
  // The answer contains the credential, which no program reads.
  expect(await run(ADA, me)).toMatchObject({ value: { me: { name: "[redacted]" } } });
  await run(BOB, me);
  await run(BOB, "await device.TrackerGraph.mutate({ query: `mutation { deleteIssue(number: 1) }` })");
  expect(server.received.map(({ headers }) => headers.authorization)).toEqual([
    `Bearer ${TOKENS.ada}`,
    `Bearer ${TOKENS.bob}`,
    `Bearer writer-${TOKENS.bob}`,
  ]);
  expect(await run({ ...BOB, id: "carol" }, me)).toMatchObject({ kind: "failed", error: { code: "ACCOUNT_MISSING" } });
  expect(runtime.describe("TrackerGraph.mutate", { caller: ADA }).notes).toContain("Uses the account writer (ada)");
});

test(
  "a program reads partial data with notes, pages and files, and catches errors by their code [S5]",
  { tags: "rest" },
  async () => {
    const { open, server } = await startProject([], getFolder());
    const runtime = await open({ requests: "get" });
    const partial = await runtime.run("await device.TrackerGraph.query({ query: `{ issue(number: 2) { secret } }` })");
    expect(partial).toMatchObject({
      kind: "completed",
      value: { issue: { secret: null } },
      notes: ["The result of TrackerGraph.query has an error at issue.secret: No access to issue 2 (FORBIDDEN)"],
    });
    const pages = await runtime.run(`
    const items = await device.TrackerGraph.query.pages({
      query: \`query ($after: String) { issues(first: 20, after: $after) { nodes { number } pageInfo { hasNextPage endCursor } } }\`,
    }, { items: 25 });
    return items.length;
  `);
    expect(pages).toMatchObject({ kind: "completed", value: 25, calls: [{ method: "query" }, { method: "query" }] });
    expect(server.received.map(({ method }) => method)).toEqual(["GET", "GET", "GET"]);
    const file = await runtime.run(`
    const bytes = new Uint8Array([104, 105]);
    return device.TrackerGraph.mutate({
      query: \`mutation ($file: Upload!) { attach(number: 1, file: $file) { name text } }\`,
      variables: { file: { filename: "a.txt", data: bytes } },
    });
  `);
    expect(file).toMatchObject({ kind: "completed", value: { attach: [{ name: "a.txt", text: "hi" }] } });
    const caught = await runtime.run(`
    try { await device.TrackerGraph.query({ query: \`{ broken(code: "NOT_FOUND") }\` }); }
    catch (error) { return [error.code, error.status, error.path, error.body.errors[0].message]; }
  `);
    expect(caught).toMatchObject({ value: ["NOT_FOUND", 200, "broken", "It is out of order"] });
  },
);

test("the values of variables are checked once for each call [S5]", async () => {
  const { open } = await startProject([], getFolder());
  const runtime = await open();
  const post = vi.spyOn(Worker.prototype, "postMessage");
  onTestFinished(() => post.mockRestore());
  const outcome = await runtime.run(`
    const number = [7][0];
    return device.TrackerGraph.query({ query: "query ($number: Int!) { issue(number: $number) { id } }", variables: { number } });
  `);
  expect(outcome).toMatchObject({ value: { issue: { id: "i7" } } });
  const values = post.mock.calls.map(([order]) => (order as Partial<CheckOrder>).variables?.json);
  expect(values.filter((json) => json === '{"number":7}')).toHaveLength(1);
});
