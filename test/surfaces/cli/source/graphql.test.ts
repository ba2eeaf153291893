import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { buildSchema, introspectionFromSchema } from "graphql";
import { expect, test } from "vitest";

import { startGraphServer } from "../../../support/servers/graph-server.ts";
import { type Ended, project, skillgate } from "../command.ts";

const SDL = `
type Query { issues(first: Int): [Issue!]! }
type Mutation { createIssue(title: String!): Issue }
type Issue { id: ID! title: String! }
`;

test("source adds a GraphQL API by its endpoint, and shows, checks and refreshes it [O1]", async () => {
  const cwd = project();
  const { url } = await startGraphServer({ typeDefs: SDL });
  const source = (...args: readonly string[]): Promise<Ended> => skillgate(["source", ...args], { cwd });
  const added = await source("add", url, "--name", "tracker", "--private");
  expect(added).toMatchObject({ exit: 0, stderr: "" });
  expect(added.stdout).toContain("TrackerGraph, 2 methods for 2 root fields of GraphQL API at 127.0.0.1");
  expect(readFileSync(join(cwd, "settings.yaml"), "utf8")).toContain(`graphql: ${url}`);
  const { stdout } = await source("show", "tracker");
  expect(stdout).toContain("query issues");
  expect(stdout).toContain("mutate:createIssue");
  expect(await source("check", "tracker")).toMatchObject({ exit: 0 });
  expect(await source("refresh", "tracker")).toMatchObject({ exit: 0, stdout: expect.stringContaining(url) });
  expect(await source("list", "--json")).toMatchObject({ stdout: expect.stringContaining('"kind":"graphql"') });
});

test("check finds a wrong field in a query of a GraphQL API [O1]", { tags: "rest" }, async () => {
  const { url } = await startGraphServer({ typeDefs: SDL });
  const cwd = project({ "settings.yaml": JSON.stringify({ sources: { tracker: { graphql: url, private: true } } }) });
  const query = "device.TrackerGraph.query({ query: `{ issues { titel } }` })";
  expect(await skillgate(["check", "-e", query], { cwd })).toMatchObject({
    exit: 3,
    stderr: expect.stringContaining('did you mean "title"'),
  });
});

test("source adds a GraphQL API by its schema, with the endpoint of its requests [O1]", async () => {
  const cwd = project();
  const endpoint = "https://api.example.com/v1";
  writeFileSync(join(cwd, "a.graphql"), SDL);
  writeFileSync(join(cwd, "b.json"), JSON.stringify(introspectionFromSchema(buildSchema(SDL))));
  writeFileSync(join(cwd, "c.txt"), SDL);
  for (const [name, file] of Object.entries({ a: "a.graphql", b: "b.json", c: "c.txt" })) {
    const add = ["source", "add", file, "--name", name];
    expect(await skillgate(add, { cwd })).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining(`${file} is a schema, which does not say where its API is; add --server`),
    });
    expect(await skillgate([...add, "--server", endpoint], { cwd })).toMatchObject({ exit: 0 });
  }
  const settings = readFileSync(join(cwd, "settings.yaml"), "utf8");
  expect(settings).toContain(`graphql: ${endpoint}`);
  expect(settings).toContain("schema: ./b.json");
});

test("source add proposes --graphql for an address that is no OpenAPI document [O1]", async () => {
  const cwd = project();
  const { url } = await startGraphServer({ typeDefs: SDL });
  const elsewhere = `${url}?key=1#x`.replace("/graphql", "/graphql/v2");
  const added = await skillgate(["source", "add", elsewhere, "--name", "tracker", "--private"], { cwd });
  expect(added).toMatchObject({ exit: 1, stderr: expect.stringContaining("add --graphql if it is a GraphQL API") });
});

test(
  "doctor names what is left out of a schema, a mutation that only settings make harmless, and an API without one [O1]",
  { tags: "rest" },
  async () => {
    const cwd = project();
    const { url } = await startGraphServer({ typeDefs: SDL });
    writeFileSync(join(cwd, "tracker.graphql"), SDL.replace("title: String! }", "title: String! broken: Missing }"));
    const sources = {
      whole: { graphql: url, private: true },
      part: { graphql: url, schema: "./tracker.graphql", private: true, effects: { "mutate:createIssue": "read" } },
      gone: { graphql: url.replace("/graphql", "/none"), private: true },
    };
    writeFileSync(join(cwd, "settings.yaml"), JSON.stringify({ sources }));
    const { exit, stdout } = await skillgate(["doctor"], { cwd });
    expect(stdout).toContain("✓ API whole: WholeGraph, 2 methods for 2 root fields\n");
    expect(stdout).toContain(
      "! API part: PartGraph, 2 methods for 2 root fields, 1 problem of its schema: skillgate source check part\n",
    );
    expect(stdout).toContain(
      'mutation createIssue counts as reading only. The effect is read: sources.part.effects has "mutate:createIssue": read',
    );
    expect(stdout).toContain("✗ API gone: Cannot use the schema of gone");
    expect(exit).toBe(2);
  },
);
