// @module-tag rest

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";

import { ended, meetingPoint, project, runProcess, start } from "./command.ts";

test("reports a port in use with a fix [V6]", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const { exit, stdout, stderr } = await runProcess(["serve", "--http", "--port", String(port)], { cwd: project() });
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(
    `Cannot use this option: port ${port} of 127.0.0.1 is in use; --port 0 picks a free one (OPTION_INVALID)`,
  );
});

test("says that stdin was closed before a client sent a message [V6]", async () => {
  const { exit, stdout, stderr } = await runProcess(["serve"], { cwd: project() });
  expect([exit, stdout]).toEqual([0, ""]);
  expect(stderr).toContain("stdin was closed before a client sent a message");
  const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const answered = await runProcess(["serve"], { cwd: project(), input });
  expect(answered).toMatchObject({ exit: 0, stderr: "", stdout: expect.stringContaining('"id":1') });
});

test("shows the token of its first start in a log as JSON, once", async () => {
  const server = start(["serve", "--http", "--port", "0", "--log-format", "json"], { cwd: project() });
  const [, url = "", token = ""] = await findInOutput(server, /MCP at (http:\S+)\/mcp[^]*shown only once: ([^"]+)"/);
  const answer = await fetch(`${url}/tools/run_code`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ code: `return ${JSON.stringify(token)}` }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("redacted")]);
  server.kill("SIGTERM");
});

test.each([
  [0, 1, 0],
  [143, 0, 60_000],
])("exits with %i after SIGTERM if requests have %i s to end and take %i ms [V6]", async (exit, drainSeconds, ms) => {
  const cwd = project({
    "settings.yaml": `server:\n  auth: false\n  drainSeconds: ${drainSeconds}\n`,
    "skills/wait.js": WAIT_SKILL,
  });
  const { path, next } = await meetingPoint(cwd);
  const server = start(["serve", "--http", "--port", "0"], { cwd });
  const [, url = ""] = await findInOutput(server, /MCP at (http:\S+)\/mcp/);
  const called = fetch(`${url}/tools/WaitSkill.wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ path, ms }),
  });
  called.catch(() => {}); // a server that ends cuts it off
  await next();
  const outcome = ended(server);
  server.kill("SIGTERM");
  expect(await outcome).toMatchObject({ exit });
});

const WAIT_SKILL = `
import { connect } from "node:net";
/** Waits. */
export class WaitSkill {
  /**
   * Wait some milliseconds.
   * @param {string} path Socket at which to say that the waiting has begun
   * @param {number} ms
   */
  async wait(path, ms) { connect(path).unref(); await new Promise((resolve) => setTimeout(resolve, ms)); }
}
`;

/** Waits for a text in the output on stderr. */
function findInOutput(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = "";
  return new Promise((resolve) => {
    child.stderr?.on("data", (chunk) => {
      text += String(chunk);
      const found = pattern.exec(text);
      if (found !== null) resolve(found);
    });
  });
}

test.each([
  [["--stdio", "--http"], "Cannot use --stdio together with --http or --port"],
  [["--port", "70000"], "It must be a port from 0 to 65535; see skillgate serve --help"],
  [["--port", "http"], "It must be a port from 0 to 65535; see skillgate serve --help"],
  [["--http", "--expose", "all"], "Allowed choices are code, calls, tools, both, auto"],
  [
    ["--http", "--no-auth", "--host", "0.0.0.0"],
    "without a token, the server listens only on this machine, not on 0.0.0.0",
  ],
  [["--http", "--port", "0", "--host", "203.0.113.7"], "this machine does not have the address 203.0.113.7"],
])("refuses serve %s with the reason [V6]", async (args, reason) => {
  const { exit, stdout, stderr } = await runProcess(["serve", ...args], { cwd: project() });
  expect([exit, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(reason);
});
