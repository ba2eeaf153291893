import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import { startApiServer } from "../support/servers/api-server.ts";

let folder: string;
let runtime: Runtime;

const BoardSkill = defineSkill({
  name: "BoardSkill",
  description: "A board",
  methods: { post: { description: "Posts a text", run: () => "posted" } },
});

async function reopen(options: RuntimeOptions = {}): Promise<void> {
  await runtime?.close();
  runtime = await createRuntime({
    cwd: folder,
    skillsDir: false,
    workers: 1,
    store: join(folder, "state"),
    env: { SKILLGATE_ACCOUNT_KEY: "0123456789abcdef".repeat(4), NOTES_TOKEN: "token-of-the-notes" },
    ...options,
  });
  await runtime.known;
}

async function accept(source: string): Promise<void> {
  const fields = { description: "Posts", key: "poster", source };
  await createKeys(await runtime.database()).create({ name: "poster", permissions: ["call:*"] });
  await writeFile(join(folder, "automations", "report.yaml"), JSON.stringify(fields));
  await runtime.automations.accept("report");
}

/** Expects that the automation does not run, and is held for a reason. */
async function expectHeld(why: RegExp): Promise<void> {
  await expect(runtime.automations.run("report")).rejects.toMatchObject({
    code: "AUTOMATION_HELD",
    message: expect.stringMatching(why),
  });
  expect(await runtime.automations.get("report")).toMatchObject({
    state: "held",
    reason: expect.stringMatching(why),
  });
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "skillgate-held-"));
  await mkdir(join(folder, "automations"));
});
afterEach(async () => {
  await runtime.close();
  await rm(folder, { recursive: true });
});

test("is held when a changed policy denies a method", async () => {
  const options = { skills: [BoardSkill], policy: "policies/tools.yaml" };
  await mkdir(join(folder, "policies"));
  const policy = join(folder, "policies/tools.yaml");
  await writeFile(policy, '"*": { decision: deny }\nBoardSkill.post: { decision: allow }\n');
  await reopen(options);
  await accept("await device.BoardSkill.post();");
  const { id } = await runtime.automations.run("report");
  expect(await runtime.automations.whenEnded({ automation: "report", id })).toMatchObject({ state: "completed" });
  await writeFile(policy, '"*": { decision: deny }\n');
  await reopen(options);
  await expectHeld(/its program is refused at line 1: .*BoardSkill\.post.* \(POLICY_DENIED\)/);
});

const NOTES = { type: "bearer", token: "${NOTES_TOKEN}" } as const;

test("is held when the settings of its account, or the account, have changed", { tags: "rest" }, async () => {
  const { origin, received } = await startApiServer((_request, response) =>
    response.writeHead(200, { "content-type": "application/json" }).end("{}"),
  );
  const post = { operationId: "post", summary: "Post", responses: { 200: { description: "Done" } } };
  const document = { openapi: "3.1.0", info: { title: "Board", version: "1" }, paths: { "/posts": { post } } };
  await writeFile(join(folder, "board.json"), JSON.stringify(document));
  const reopenWith = (account: string, notes: object): Promise<void> =>
    reopen({
      sources: { board: { openapi: "board.json", server: origin, private: true, account } },
      accounts: { notes: { ...NOTES, ...notes }, other: NOTES },
    });
  await reopenWith("notes", {});
  await accept("await device.BoardAPI.post();");
  const { id } = await runtime.automations.run("report");
  expect(await runtime.automations.whenEnded({ automation: "report", id })).toMatchObject({ state: "completed" });
  expect(received.at(-1)?.headers["authorization"]).toBe("Bearer token-of-the-notes");
  const route = String.raw`calls go to ${origin} with the account`;
  const says = (now: string): RegExp =>
    new RegExp(
      `BoardAPI\\.post has changed since it was accepted: before, ${route} notes \\(settings \\w{12}\\); now, ${route} ${now} \\(settings \\w{12}\\)`,
    );
  await reopenWith("notes", { servers: ["https://elsewhere.example"] });
  await expectHeld(says("notes"));
  await runtime.automations.accept("report");
  await reopenWith("notes", { servers: ["https://elsewhere.example"] });
  expect(await runtime.automations.get("report")).toMatchObject({ state: "enabled" });
  await reopenWith("other", {});
  await expectHeld(says("other"));
  expect(received).toHaveLength(1);
});

test(
  "is held when an operation of a GraphQL schema has changed, and not when another one has",
  { tags: "rest" },
  async () => {
    const { origin, received } = await startApiServer((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":{"post":1}}'),
    );
    const writeSchema = (post: string, others = ""): Promise<void> =>
      writeFile(
        join(folder, "board.graphql"),
        `type Query { count: Int! ${others} }\ntype Mutation { ${post}: Int! remove(id: Int!): Int! }`,
      );
    const board = { graphql: `${origin}/graphql`, schema: "./board.graphql", private: true, account: "notes" };
    const options = { sources: { board }, accounts: { notes: NOTES } };
    await writeSchema("post(text: String!)");
    await reopen(options);
    await accept("await device.BoardGraph.mutate('mutation { post(text: \"a\") }');");
    await writeSchema("post(text: String!)", "total: Int!");
    await reopen(options);
    const { id } = await runtime.automations.run("report");
    expect(await runtime.automations.whenEnded({ automation: "report", id })).toMatchObject({ state: "completed" });
    expect(received).toHaveLength(1);
    await writeSchema("post(text: String!, everyone: Boolean)");
    await reopen(options);
    await expectHeld(/BoardGraph\.mutate:post has changed since it was accepted/);
    const { difference, review } = await runtime.automations.offer("report");
    expect(review.methods["BoardGraph.mutate:post"]?.declaration).toContain(" with the account notes (settings ");
    expect(difference.methods).toMatchObject([
      { path: "BoardGraph.mutate:post", now: expect.stringContaining("everyone") },
    ]);
    expect(received).toHaveLength(1);
  },
);
