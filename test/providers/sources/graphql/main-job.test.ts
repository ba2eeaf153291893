// @module-tag rest

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { schema } from "@octokit/graphql-schema";
import { buildClientSchema, type IntrospectionQuery, printSchema } from "graphql";
import { expect, onTestFinished, test } from "vitest";

import type { Approval } from "../../../../src/index.ts";
import { type GraphServer, startGraphServer } from "../../../support/servers/graph-server.ts";
import { type Parsed, post, serve } from "../../../surfaces/serving.ts";

/** The SDL of the package has two fields twice; its introspection does not. */
function readGithubSchema(): string {
  return printSchema(buildClientSchema(schema.json as IntrospectionQuery));
}

const ISSUES = Array.from({ length: 25 }, (_, index) => ({
  __typename: "Issue",
  number: index + 1,
  title: `Issue ${index + 1}`,
  author: { __typename: "User", login: index % 2 === 0 ? "ada" : "bob" },
}));

/** The schema of GitHub with a few resolvers. */
const RESOLVERS = {
  Query: {
    repository: (_: unknown, { owner, name }: Readonly<Record<string, string>>) => ({
      nameWithOwner: `${owner}/${name}`,
      stargazerCount: 7,
      issues: ({ first, after }: { readonly first: number; readonly after?: string }) => {
        const start = Number(after ?? 0);
        const nodes = ISSUES.slice(start, start + first);
        return {
          totalCount: ISSUES.length,
          nodes,
          pageInfo: { hasNextPage: start + nodes.length < ISSUES.length, endCursor: String(start + nodes.length) },
        };
      },
    }),
    search: (_: unknown, { query }: { readonly query: string }) => ({
      issueCount: 2,
      nodes: [
        { __typename: "Issue", title: `${query} in an issue`, number: 1 },
        { __typename: "PullRequest", title: `${query} in a change`, isDraft: true },
      ],
    }),
  },
  Mutation: {
    createIssue: (_: unknown, { input }: { readonly input: { readonly title: string } }) => ({
      issue: { number: 26, title: input.title },
    }),
  },
};

interface Job {
  readonly server: GraphServer;
  readonly approvals: Approval[];
  /** Runs a program over HTTP, and returns the answer. */
  readonly run: (code: string) => Promise<Parsed>;
}

async function openJob(): Promise<Job> {
  const server = await startGraphServer({ typeDefs: readGithubSchema(), resolvers: RESOLVERS });
  const cwd = mkdtempSync(join(tmpdir(), "skillgate-graph-"));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const policy = join(cwd, "tools.yaml");
  writeFileSync(policy, '"GithubGraph.mutate:createIssue": { decision: ask }\n');
  const approvals: Approval[] = [];
  const { url, runtime } = await serve(
    {},
    {
      cwd,
      policy,
      typecheck: true,
      skills: [],
      store: join(cwd, "store"),
      approvals: { wait: true },
      // The endpoint describes its schema itself.
      sources: { github: { graphql: server.url, private: true, headers: { Authorization: "Bearer token-4711" } } },
    },
    (token) => token === "right",
  );
  await runtime.known;
  expect(runtime.problems).toEqual([]);
  const owner = { authorization: "Bearer right" };
  runtime.on("approval", (approval) => {
    approvals.push(approval);
    void post(`${url}/approvals/${approval.id}`, { answer: "approve" }, owner);
  });
  server.received.splice(0);
  return { server, approvals, run: (code) => post(`${url}/tools/run_code`, { code }, owner) };
}

const PROGRAM = `
  const owner = "nodejs";
  const { repository } = await device.GithubGraph.query({
    query: \`query Repository($owner: String!, $first: Int!) {
      repository(owner: $owner, name: "node") {
        nameWithOwner
        stargazerCount
        issues(first: $first) { totalCount nodes { number title author { login } } }
      }
    }\`,
    variables: { owner, first: 2 },
  });
  const { search } = await device.GithubGraph.query({
    query: \`{ search(query: "memory", type: ISSUE, first: 5) {
      nodes { __typename ... on Issue { title number } ... on PullRequest { title isDraft } }
    } }\`,
  });
  const drafts = search.nodes.filter((node) => node.__typename === "PullRequest" && node.isDraft);
  const all = await device.GithubGraph.query.pages({
    query: \`query ($after: String) {
      repository(owner: "nodejs", name: "node") {
        issues(first: 10, after: $after) { nodes { number author { login } } pageInfo { hasNextPage endCursor } }
      }
    }\`,
  }, { items: 100 });
  return {
    name: repository.nameWithOwner,
    logins: repository.issues.nodes.map(({ author }) => author.login),
    drafts: drafts.map(({ title }) => title),
    count: all.length,
    last: all.at(-1).number,
  };
`;

const MUTATION = `
  const title = "A leak";
  const { createIssue } = await device.GithubGraph.mutate({
    query: \`mutation ($input: CreateIssueInput!) { createIssue(input: $input) { issue { number title } } }\`,
    variables: { input: { repositoryId: "R_1", title } },
  });
  return createIssue.issue;
`;

test("against the schema of GitHub, runs queries with a union, variables and pages, refuses mistakes before any request, and asks for a mutation [S5]", async () => {
  const { run, server, approvals } = await openJob();
  expect((await run(PROGRAM)).json).toMatchObject({
    data: {
      value: { name: "nodejs/node", logins: ["ada", "bob"], drafts: ["memory in a change"], count: 25, last: 25 },
    },
  });
  expect(server.received).toHaveLength(1 + 1 + 3);
  expect(server.received.every(({ headers }) => headers.authorization === "Bearer token-4711")).toBe(true);
  server.received.splice(0);

  const refuse = async (code: string): Promise<string> => JSON.stringify((await run(code)).json).replaceAll("\\", "");
  expect(
    await refuse('device.GithubGraph.query({ query: `{ repository(owner: "a", name: "b") { stargazersCount } }` })'),
  ).toMatch(/Cannot query field "stargazersCount" on type "Repository".*"stargazerCount"/);
  expect(
    await refuse("device.GithubGraph.query({ query: `query A { viewer { login } } query B { viewer { login } }` })"),
  ).toContain("QUERY_INVALID");
  expect(
    await refuse(
      'const field = ["log", "im"].join(""); device.GithubGraph.query({ query: "{ viewer { " + field + " } }" })',
    ),
  ).toMatch(/QUERY_INVALID.*"login"|"login".*QUERY_INVALID/);
  expect(
    await refuse(
      'device.GithubGraph.query({ query: `mutation { closeIssue(input: { issueId: "I" }) { issue { id } } }` })',
    ),
  ).toContain("QUERY_INVALID");
  expect(server.received).toEqual([]);

  expect((await run(MUTATION)).json).toMatchObject({ data: { value: { number: 26, title: "A leak" } } });
  expect(approvals).toMatchObject([{ path: "GithubGraph.mutate:createIssue" }]);
  expect(server.received).toHaveLength(1);
});
