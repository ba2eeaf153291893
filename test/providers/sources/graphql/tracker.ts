import { createHash } from "node:crypto";

import { GraphQLError } from "graphql";

import { type GraphServer, startGraphServer } from "../../../support/servers/graph-server.ts";
import type { YogaPlugin } from "../../../support/servers/yoga.mjs";

/** An issue tracker as its server describes it. */
export const TRACKER = /* GraphQL */ `
  scalar Upload

  type Query {
    "Lists the issues, the oldest first"
    issues(first: Int, after: String, last: Int, before: String): IssueConnection!
    "Finds one issue by its number"
    issue(number: Int!): Issue
    search(text: String!): [Found!]!
    me: User!
    "A field whose resolver always fails"
    broken(code: String): String!
    "Counts a view, although it is a query"
    view(number: Int!): Int!
  }

  type Mutation {
    createIssue(input: CreateIssueInput!): CreateIssuePayload!
    deleteIssue(number: Int!): Boolean
    attach(number: Int!, file: Upload!, others: [Upload!]): [Attachment!]!
    import(input: ImportInput!): [Attachment!]!
  }

  input CreateIssueInput {
    title: String!
    labels: [String!]
  }

  input ImportInput {
    title: String
    files: [Upload!]!
  }

  interface Named {
    name: String!
  }

  type Issue {
    id: ID!
    number: Int!
    title: String!
    state: State!
    author: User
    "Fails for the issues with an even number"
    secret: String
  }

  enum State {
    OPEN
    CLOSED
  }

  type User implements Named {
    id: ID!
    name: String!
  }

  union Found = Issue | User

  type IssueConnection {
    nodes: [Issue!]!
    edges: [IssueEdge!]!
    totalCount: Int!
    pageInfo: PageInfo!
  }

  type IssueEdge {
    cursor: String!
    node: Issue!
  }

  type PageInfo {
    hasNextPage: Boolean!
    hasPreviousPage: Boolean!
    startCursor: String
    endCursor: String
  }

  type CreateIssuePayload {
    issue: Issue
  }

  type Attachment {
    name: String!
    type: String!
    text: String!
  }
`;

const USER = { __typename: "User", id: "u1", name: "Ada" };

const ISSUES = Array.from({ length: 45 }, (_, index) => ({
  __typename: "Issue",
  id: `i${index + 1}`,
  number: index + 1,
  title: `Issue ${index + 1}`,
  state: index % 2 === 0 ? "OPEN" : "CLOSED",
  author: USER,
}));

interface PageArguments {
  readonly first?: number;
  readonly after?: string;
  readonly last?: number;
  readonly before?: string;
}

/** Pages of 10 issues, unless the request says otherwise; of at most 20. */
function listIssues({ first, after, last, before }: PageArguments): object {
  const size = Math.min(first ?? last ?? 10, 20);
  const isBackward = last !== undefined || before !== undefined;
  const end = before === undefined ? ISSUES.length : Number(before) - 1;
  const start = isBackward ? Math.max(0, end - size) : Number(after ?? 0);
  const nodes = ISSUES.slice(start, isBackward ? end : start + size);
  return {
    nodes,
    edges: nodes.map((node) => ({ cursor: String(node.number), node })),
    totalCount: ISSUES.length,
    pageInfo: {
      hasNextPage: start + nodes.length < ISSUES.length,
      hasPreviousPage: start > 0,
      startCursor: String(nodes[0]?.number),
      endCursor: String(nodes.at(-1)?.number),
    },
  };
}

async function readFile(file: File): Promise<object> {
  return { name: file.name, type: file.type, text: await file.text() };
}

const RESOLVERS = {
  Query: {
    issues: (_: unknown, args: PageArguments) => listIssues(args),
    issue: (_: unknown, { number }: { readonly number: number }) => ISSUES[number - 1],
    search: (_: unknown, { text }: { readonly text: string }) => [
      USER,
      ...ISSUES.filter(({ title }) => title.includes(text)),
    ],
    me: (_: unknown, __: unknown, { headers }: { readonly headers: Readonly<Record<string, string>> }) => ({
      id: "u",
      name: headers["authorization"] ?? "anonymous",
    }),
    broken: (_: unknown, { code }: { readonly code?: string }) => {
      throw new GraphQLError("It is out of order", { extensions: { ...(code !== undefined && { code }) } });
    },
    view: (_: unknown, { number }: { readonly number: number }) => number,
  },
  Mutation: {
    createIssue: (_: unknown, { input }: { readonly input: { readonly title: string } }) => {
      if (input.title === "") throw new GraphQLError("A title is needed", { extensions: { code: "BAD_USER_INPUT" } });
      return { issue: { ...ISSUES[0], id: "new", title: input.title } };
    },
    deleteIssue: () => true,
    attach: (_: unknown, { file, others = [] }: { readonly file: File; readonly others?: readonly File[] }) =>
      Promise.all([file, ...others].map(readFile)),
    import: (_: unknown, { input }: { readonly input: { readonly files: readonly File[] } }) =>
      Promise.all(input.files.map(readFile)),
  },
  Issue: {
    secret: ({ number }: { readonly number: number }) => {
      if (number % 2 === 0)
        throw new GraphQLError(`No access to issue ${number}`, { extensions: { code: "FORBIDDEN" } });
      return `secret ${number}`;
    },
  },
};

export function startTracker(plugins: readonly YogaPlugin[] = []): Promise<GraphServer> {
  return startGraphServer({ typeDefs: TRACKER, resolvers: RESOLVERS, plugins });
}

/** Stores texts by their digests, as Apollo Server does. */
export function createPersistedQueries(): YogaPlugin {
  const texts = new Map<string, string>();
  return {
    onParams({ params, setParams }) {
      const { sha256Hash } = (params.extensions?.["persistedQuery"] ?? {}) as { readonly sha256Hash?: string };
      if (sha256Hash === undefined) return;
      const { query = texts.get(sha256Hash) } = params;
      if (query === undefined)
        throw new GraphQLError("PersistedQueryNotFound", {
          extensions: { code: "PERSISTED_QUERY_NOT_FOUND", http: { status: 200 } },
        });
      if (createHash("sha256").update(query).digest("hex") !== sha256Hash) throw new GraphQLError("Another digest");
      texts.set(sha256Hash, query);
      setParams({ ...params, query });
    },
  };
}
