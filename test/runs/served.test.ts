import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";

import { skillgate } from "../surfaces/cli/command.ts";
import { connectStdio, createRefundProject, REFUNDED, serveProject, THREE_REFUNDS } from "./refund-server.ts";

type Result = Awaited<ReturnType<Client["callTool"]>>;

/** A client that cannot ask its user. */
async function connect(url: string, mode: "auto" | "legacy"): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
  onTestFinished(() => client.close());
  return client;
}

function getRunId({ structuredContent }: Result): string {
  return String((structuredContent as { readonly runId?: unknown }).runId);
}

function resume(client: Client, run_id: string): Promise<Result> {
  return client.callTool({ name: "resume_run", arguments: { run_id } });
}

/** Resumes a run until it does not wait any more. */
async function resumeToEnd(client: Client, runId: string): Promise<Result> {
  for (;;) {
    const result = await resume(client, runId);
    if ((result.structuredContent as { readonly kind?: unknown }).kind !== "waiting") return result;
  }
}

const runCode = (client: Client): Promise<Result> =>
  client.callTool({ name: "run_code", arguments: { code: THREE_REFUNDS } });

test.each(["auto", "legacy"] as const)(
  "continues a run of a client over HTTP (%s) after kill -9 of the server, and makes each refund once [R2, R9]",
  { tags: "rest" },
  async (mode) => {
    const shop = createRefundProject();
    const first = await serveProject(shop);
    const waiting = await runCode(await connect(first.url, mode));
    expect(waiting).toMatchObject({ structuredContent: { kind: "waiting", approvals: [expect.any(String)] } });
    const runId = getRunId(waiting);
    await first.kill("SIGKILL");
    expect(shop.readEffects()).toEqual(["1"]);

    const second = await serveProject(shop);
    const client = await connect(second.url, mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("resume_run");
    expect((await client.listResources()).resources).toContainEqual(
      expect.objectContaining({ uri: `run://${runId}`, title: expect.stringContaining("waiting") }),
    );
    const approved = await skillgate(["approvals", "approve", await shop.findQuestion()], { cwd: shop.cwd });
    expect(approved).toMatchObject({ exit: 0 });
    expect(await resumeToEnd(client, runId)).toMatchObject({
      structuredContent: { kind: "completed", value: REFUNDED },
    });
    expect(shop.readEffects()).toEqual(["1", "2", "3"]);
    expect(await resume(client, runId)).toMatchObject({ structuredContent: { kind: "completed", value: REFUNDED } });
    const { contents } = await client.readResource({ uri: `run://${runId}` });
    expect(JSON.parse((contents[0] as { text: string }).text)).toMatchObject({
      kind: "completed",
      value: REFUNDED,
      source: THREE_REFUNDS,
    });
    expect(shop.readEffects()).toEqual(["1", "2", "3"]);
  },
);

test("continues a run of a client over stdio after kill -9 of the server [R2, R9]", { tags: "rest" }, async () => {
  const shop = createRefundProject();
  const first = await connectStdio(shop);
  const runId = getRunId(await runCode(first.client));
  const closed = new Promise<void>((resolve) => (first.client.onclose = resolve));
  process.kill(first.pid, "SIGKILL");
  await closed;
  const id = await shop.findQuestion();
  expect(await skillgate(["approvals", "approve", id], { cwd: shop.cwd })).toMatchObject({ exit: 0 });
  const { client } = await connectStdio(shop);
  expect(await resumeToEnd(client, runId)).toMatchObject({ structuredContent: { kind: "completed", value: REFUNDED } });
  expect(shop.readEffects()).toEqual(["1", "2", "3"]);
});

test(
  "continues a run whose client has lost its connection while a person is asked [R2, R9]",
  { tags: "rest" },
  async () => {
    const shop = createRefundProject(600);
    const first = await serveProject(shop);
    const gone = await connect(first.url, "auto");
    const call = runCode(gone).catch(() => "lost");
    const id = await shop.findQuestion();
    await gone.close();
    expect(await call).toBe("lost");
    await first.kill("SIGTERM");
    const second = await serveProject(shop);
    const client = await connect(second.url, "auto");
    const { resources } = await client.listResources();
    const { name = "" } = resources.find(({ title }) => title?.endsWith("waiting")) ?? {};
    expect(await skillgate(["approvals", "approve", id], { cwd: shop.cwd })).toMatchObject({ exit: 0 });
    expect(await resumeToEnd(client, name)).toMatchObject({
      structuredContent: { kind: "completed", value: REFUNDED },
    });
    expect(shop.readEffects()).toEqual(["1", "2", "3"]);
  },
);
