import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { createRuntime } from "../../../../src/index.ts";
import { listSockets } from "../../../../src/surfaces/cli/socket/address.ts";
import { rememberProject } from "../../../../src/surfaces/cli/socket/project-state.ts";
import { openProjectSocket, type ProjectSocket } from "../../../../src/surfaces/cli/socket/server.ts";
import { CONNECTION_LIMITS, createConnections } from "../../../../src/surfaces/http/opening/index.ts";
import { folder } from "../../serving.ts";

interface OpenedSocket {
  readonly server: ProjectSocket;
  readonly client: Socket;
  /** Resolves to the first line of the log. */
  readonly logged: Promise<string>;
}

/** Opens the socket of an empty project, and connects to it. */
async function openSocket(totalUnreadBytes = CONNECTION_LIMITS.totalUnreadBytes): Promise<OpenedSocket> {
  const cwd = folder();
  vi.stubEnv("XDG_STATE_HOME", cwd);
  const runtime = await createRuntime({ skillsDir: false, workers: 1, typecheck: false });
  let log: (text: string) => void = () => {};
  const logged = new Promise<string>((resolve) => (log = resolve));
  const skillsFolder = join(cwd, "skills");
  const readProblems = async (): Promise<[]> => [];
  const server = await openProjectSocket({
    runtime,
    state: await rememberProject({
      cwd,
      settings: undefined,
      mcpConfig: undefined,
      skillsFolder,
      readProblems,
      runtime,
    }),
    cwd,
    files: [],
    connections: createConnections({ ...CONNECTION_LIMITS, totalUnreadBytes }, (text) => log(text)),
  });
  const [address] = listSockets(cwd);
  const client = connect(address?.path ?? "").on("error", () => {}); // the server closes it
  onTestFinished(async () => {
    client.destroy();
    await server.close(0);
    await runtime.close();
    vi.unstubAllEnvs();
  });
  return { server, client, logged };
}

test("counts what commands have not read in the limit of all connections [V6]", async () => {
  const { logged } = await openSocket(100);
  expect(await logged).toMatch(/^Closed a connection: .* the limit of all connections is 0\.0 MB$/);
});

test("does not wait at its end for a connection that has asked for nothing [O7]", async () => {
  const { server, client } = await openSocket();
  await once(client, "data");
  await server.close(600_000);
});
