import { GraphQLError } from "graphql";
import { expect, test } from "vitest";

import type { Runtime } from "../../../../src/index.ts";
import { CLIENT_SECRET, startOAuthProvider, type TestProvider } from "../../../support/servers/oauth-provider.ts";
import type { GraphServer } from "../../../support/servers/graph-server.ts";
import type { YogaPlugin } from "../../../support/servers/yoga.mjs";
import { shareProjectFolder, startProject } from "./project.ts";

const getFolder = shareProjectFolder();

/** Refuses tokens in the errors of an answer, with a status. */
function createGate(isRefused: (token: string) => boolean, status: number): YogaPlugin {
  return {
    onParams({ request }) {
      const token = (request.headers.get("authorization") ?? "").replace("Bearer ", "");
      if (!isRefused(token)) return;
      throw new GraphQLError("The token is over", { extensions: { code: "UNAUTHENTICATED", http: { status } } });
    },
  };
}

/** A tracker that refuses tokens, with an account whose tokens a real OAuth provider grants. */
async function openTracker(
  status: number,
  isRefused: (token: string, provider: TestProvider) => boolean,
): Promise<{ readonly runtime: Runtime; readonly provider: TestProvider; readonly server: GraphServer }> {
  const provider = await startOAuthProvider();
  const { open, server } = await startProject([createGate((token) => isRefused(token, provider), status)], getFolder());
  const account = {
    type: "oauth",
    grant: "client",
    issuer: provider.issuer,
    clientId: "service",
    clientSecret: CLIENT_SECRET,
    private: true,
  } as const;
  const runtime = await open({ account: "tracker" }, { accounts: { tracker: account } });
  return { runtime, provider, server };
}

const QUERY = "await device.TrackerGraph.query({ query: `{ issue(number: 1) { title } }` })";
const MUTATION = "await device.TrackerGraph.mutate({ query: `mutation { deleteIssue(number: 1) }` })";

const isFirst = (token: string, { tokens }: TestProvider): boolean => token === tokens[0];

test.each([200, 401])(
  "a token that errors of the status %i refuse is renewed, and a query sent again [S5]",
  async (status) => {
    const { runtime, provider, server } = await openTracker(status, isFirst);
    expect(await runtime.run(QUERY)).toMatchObject({ kind: "completed", value: { issue: { title: "Issue 1" } } });
    expect(provider.requests).toEqual(["client_credentials", "client_credentials"]);
    expect(server.received.map(({ headers }) => headers.authorization)).toEqual(
      provider.tokens.map((token) => `Bearer ${token}`),
    );
  },
);

test.each([200, 401])(
  "a mutation whose token errors of the status %i refuse is not sent again [S5]",
  async (status) => {
    const { runtime, server } = await openTracker(status, isFirst);
    const outcome = await runtime.run(MUTATION);
    expect(outcome).toMatchObject({ kind: "failed" });
    expect(outcome.text).toContain("which is renewed now: make the call again");
    expect(server.received).toHaveLength(1);
    expect(await runtime.run(MUTATION)).toMatchObject({ kind: "completed", value: { deleteIssue: true } });
  },
);

test("a token that is refused again is an error that says what to do [S5]", async () => {
  const { runtime, server } = await openTracker(200, () => true);
  const outcome = await runtime.run(QUERY);
  expect(outcome).toMatchObject({ kind: "failed" });
  expect(outcome.text).toContain("The service does not accept the credential of the account tracker");
  expect(server.received).toHaveLength(2);
});
