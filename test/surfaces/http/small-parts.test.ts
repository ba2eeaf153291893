import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createRuntime, type Runtime } from "../../../src/runtime.ts";
import { SERVER_DEFAULTS, serveHttp, type HttpServer } from "../../../src/surfaces/http/index.ts";

let runtime: Runtime;
let server: HttpServer;

beforeAll(async () => {
  runtime = await createRuntime({ skillsDir: "test/fixtures/missing", mcpServers: {}, typecheck: false });
  server = await serveHttp(runtime, { ...SERVER_DEFAULTS, port: 0, auth: false });
});

afterAll(async () => {
  await server.close();
  await runtime.close();
});

const CALL = { name: "run_code", arguments: { code: "40 + 2" } };

/** Writes a call with a body in parts. */
function writeCall(path: string, partBytes: number, bodyBytes: number): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: CALL }).padEnd(bodyBytes);
  const parts = body.match(new RegExp(`.{1,${partBytes}}`, "g")) ?? [];
  const wire = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
  const headers = `host: ${new URL(server.url).host}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${wire}0\r\n\r\n`;
}

/** Sends a call and then a request after which the server closes the connection, and returns all that it answers. */
function send(...call: Parameters<typeof writeCall>): Promise<string> {
  const { hostname, port, host } = new URL(server.url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname).setEncoding("utf8");
    // A connection with unread bytes is reset after the answer.
    socket.on("data", (text) => (answer += String(text))).on("error", () => {});
    socket.on("close", () => resolve(answer));
    socket.write(`${writeCall(...call)}GET /health HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  });
}

test.each([
  ["few small parts", 1, 1_000],
  ["many larger parts", 256, 400_000],
])("reads a body in %s [P4]", async (_name, partBytes, bodyBytes) => {
  const answer = await send("/rpc", partBytes, bodyBytes);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain('"value":42');
});

test.each(["/rpc", "/mcp", "/tools/run_code"])(
  "refuses a body in thousands of small parts at %s [P4]",
  async (path) => {
    const answer = await send(path, 1, 100_000);
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain(
      "The body has more than 1024 parts of less than 256 bytes: send larger parts, or a content-length",
    );
  },
);

test("ends the connection of such a body also where no route reads it [P4]", async () => {
  expect(await send("/nothing", 256, 100_000)).toContain("HTTP/1.1 200 OK");
  const answers = await send("/nothing", 1, 100_000);
  expect(answers).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(answers).not.toContain("HTTP/1.1 200 OK");
});
