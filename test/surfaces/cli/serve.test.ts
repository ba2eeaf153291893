import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { project, skillgate } from "./command.ts";

test("reports a port in use with a fix [V6]", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { exit, stdout, stderr } = await skillgate(["serve", "--http", "--port", String(port)], { cwd: project() });
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(
    `Cannot use this option: port ${port} of 127.0.0.1 is in use; --port 0 picks a free one (OPTION_INVALID)`,
  );
});

test.each([
  [["--stdio", "--http"], "Cannot use --stdio together with --http or --port"],
  [["--port", "70000"], "It must be a port from 0 to 65535; see skillgate serve --help"],
  [["--port", "http"], "It must be a port from 0 to 65535; see skillgate serve --help"],
  [["--http", "--expose", "all"], "Allowed choices are code, tools, both, auto"],
  [
    ["--http", "--no-auth", "--host", "0.0.0.0"],
    "without a token, the server listens only on this machine, not on 0.0.0.0",
  ],
  [["--http", "--port", "0", "--host", "203.0.113.7"], "this machine does not have the address 203.0.113.7"],
])("refuses serve %s with the reason [V6]", async (args, reason) => {
  const { exit, stdout, stderr } = await skillgate(["serve", ...args], { cwd: project() });
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(reason);
});
