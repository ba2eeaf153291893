import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";

import { createRuntime } from "../../../../src/index.ts";
import { listSockets } from "../../../../src/surfaces/cli/socket/address.ts";
import { rememberProject } from "../../../../src/surfaces/cli/socket/project-state.ts";
import { openProjectSocket } from "../../../../src/surfaces/cli/socket/server.ts";
import { CONNECTION_LIMITS, createConnections } from "../../../../src/surfaces/http/opening/index.ts";
import { folder } from "../../serving.ts";

test("counts what commands have not read in the limit of all connections [V6]", async () => {
  const cwd = folder();
  vi.stubEnv("XDG_STATE_HOME", cwd);
  const runtime = await createRuntime({ skillsDir: false, workers: 1, typecheck: false });
  let log: (text: string) => void = () => {};
  const logged = new Promise<string>((resolve) => (log = resolve));
  const skillsFolder = join(cwd, "skills");
  const readProblems = async (): Promise<[]> => [];
  const socket = await openProjectSocket({
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
    connections: createConnections({ ...CONNECTION_LIMITS, totalUnreadBytes: 100 }, (text) => log(text)),
  });
  onTestFinished(async () => {
    await socket.close(0);
    await runtime.close();
    vi.unstubAllEnvs();
  });
  const [address] = listSockets(cwd);
  const client = connect(address?.path ?? "").on("error", () => {}); // the server closes it
  onTestFinished(() => void client.destroy());
  expect(await logged).toMatch(/^Closed a connection: .* the limit of all connections is 0\.0 MB$/);
});
