// @module-tag rest

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { VERSION } from "../../../../src/shared/version.ts";
import { MATH_SKILL, project, skillgate, start } from "../command.ts";
import {
  getSocketPrefix,
  getSocketsFolder,
  listSocketFiles,
  serveProject,
  waitForText,
  WHERE_SKILL,
} from "./served-project.ts";

const NOT_USED = 'The runtime of "skillgate serve" is not used: ';

test("run and call use the process that serves the project [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { server, skillgate } = await serveProject(cwd);
  const parent = `${server.pid}\n`;
  expect(await skillgate(["call", "WhereSkill.parent"])).toEqual({ exit: 0, stdout: parent, stderr: "" });
  expect(await skillgate(["run", "-e", "device.WhereSkill.parent()"])).toEqual({ exit: 0, stdout: parent, stderr: "" });
  const own = await skillgate(["call", "WhereSkill.parent", "--no-socket"]);
  expect(own.exit).toBe(0);
  expect(own.stdout).not.toBe(parent);
  writeFileSync(join(cwd, "skills", "where.js"), WHERE_SKILL.replace("no word", "new word"));
  expect((await skillgate(["call", "WhereSkill.word"])).stdout).toBe("new word\n");
  expect((await skillgate(["call", "WhereSkill.parent"])).stdout).toBe(parent);
});

test("a server over stdio takes commands, too, and removes its socket at its end [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { server, skillgate } = await serveProject(cwd, { args: ["--stdio"] });
  expect((await skillgate(["call", "WhereSkill.parent"])).stdout).toBe(`${server.pid}\n`);
  expect(listSocketFiles(cwd)).toHaveLength(2);
  server.stdin?.end();
  await once(server, "close");
  expect(listSocketFiles(cwd)).toEqual([]);
});

test("only the owner can reach the socket [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  mkdirSync(getSocketsFolder(cwd), { recursive: true });
  chmodSync(getSocketsFolder(cwd), 0o777);
  await serveProject(cwd);
  const modes = ["", ...listSocketFiles(cwd)].map((name) => statSync(join(getSocketsFolder(cwd), name)).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600, 0o600]);
});

test.skipIf(process.getuid?.() !== 0)("neither side uses a folder of another user [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  mkdirSync(getSocketsFolder(cwd), { recursive: true });
  chownSync(getSocketsFolder(cwd), 65_534, 65_534);
  await waitForText(start(["serve", "--stdio", "--verbose"], { cwd }), "belongs to another user");
  await impersonate(cwd, () => expect.unreachable("the command has connected"));
  expect(await skillgate(["call", "WhereSkill.word"], { cwd })).toEqual({ exit: 0, stdout: "no word\n", stderr: "" });
});

test.each([
  ["other flags", ["--skills", "skills"], {}, "it has other flags"],
  [
    "other values of variables that its files name",
    [],
    { WHERE_WORD: "other" },
    "environment variables have other values",
  ],
])("a command with %s uses its own runtime [O7]", async (_what, flags, env, reason) => {
  const cwd = project({ "skills/where.js": WHERE_SKILL, "settings.yaml": "skills: { env: [WHERE_WORD] }\n" });
  const { skillgate } = await serveProject(cwd);
  const { exit, stdout, stderr } = await skillgate(["call", "WhereSkill.word", "--verbose", ...flags], env);
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: `${"WHERE_WORD" in env ? "other" : "no word"}\n` });
  expect(stderr).toContain(NOT_USED + reason);
});

test.each(["CI", "lower_case"])("a variable is named by its use, also %s [O7]", async (name) => {
  const source = WHERE_SKILL.replace("process.env.WHERE_WORD", `process.env.${name}`);
  const cwd = project({ "skills/where.js": source, "settings.yaml": `skills: { env: [${name}] }\n` });
  const { skillgate } = await serveProject(cwd, { env: { [name]: undefined } });
  expect((await skillgate(["call", "WhereSkill.word"], { [name]: "other" })).stdout).toBe("other\n");
});

test.skipIf(process.platform === "win32")("a command does not use a folder that others can write to [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { server, skillgate } = await serveProject(cwd);
  chmodSync(getSocketsFolder(cwd), 0o777);
  expect((await skillgate(["call", "WhereSkill.parent"])).stdout).not.toBe(`${server.pid}\n`);
});

test.skipIf(process.platform !== "linux")("a busy server keeps its socket [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const folder = getSocketsFolder(cwd);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${getSocketPrefix(cwd)}-00000000`);
  const listen = `require("node:net").createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    console.log("listening");
    process.kill(process.pid, "SIGSTOP");
  })`;
  const busy = spawn(process.execPath, ["-e", listen, `${path}.sock`], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void busy.kill("SIGKILL"));
  await once(busy.stdout, "data");
  writeFileSync(`${path}.json`, JSON.stringify({ version: VERSION, secret: randomUUID() }));
  while (await connects(`${path}.sock`));
  const { exit, stderr } = await skillgate(["call", "WhereSkill.word", "--verbose"], { cwd });
  expect({ exit, stderr }).toMatchObject({ exit: 0, stderr: expect.stringContaining("cannot be reached (EAGAIN)") });
  expect(listSocketFiles(cwd)).toHaveLength(2);
});

/** True if a process takes a connection, which stays open until the test ends. */
function connects(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true)).once("error", () => resolve(false));
    onTestFinished(() => void socket.destroy());
  });
}

test("a command uses its own runtime after a change of the settings [O7]", async () => {
  const cwd = project({ "skills/math.js": MATH_SKILL });
  const { skillgate } = await serveProject(cwd);
  writeFileSync(join(cwd, "settings.yaml"), "limits:\n  calls: 1\n");
  const { exit, stderr } = await skillgate([
    "run",
    "-e",
    "device.MathSkill.add(1, 1) + device.MathSkill.add(1, 1)",
    "--verbose",
  ]);
  expect(exit).toBe(1);
  expect(stderr).toContain(`${NOT_USED}the settings have changed since it started`);
});

test("the setting server.socket switches the socket off [O7]", async () => {
  const cwd = project({ "settings.yaml": "server:\n  socket: false\n", "skills/where.js": WHERE_SKILL });
  const server = start(["serve", "--port", "0", "--verbose"], { cwd });
  await waitForText(server, "Serving");
  const { stdout } = await skillgate(["call", "WhereSkill.parent"], { cwd });
  expect(stdout).not.toBe(`${server.pid}\n`);
  expect(existsSync(getSocketsFolder(cwd))).toBe(false);
});

test("a server that was killed costs nothing, and its files are removed [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { server, skillgate } = await serveProject(cwd);
  server.kill("SIGKILL");
  await once(server, "close");
  expect(listSocketFiles(cwd)).toHaveLength(2);
  expect(await skillgate(["call", "WhereSkill.word"])).toEqual({ exit: 0, stdout: "no word\n", stderr: "" });
  expect(listSocketFiles(cwd)).toEqual([]);
});

/** Listens at an announced socket of the project, and gives each connection to `onConnection`. */
async function impersonate(cwd: string, onConnection: (socket: Socket) => void): Promise<void> {
  const folder = getSocketsFolder(cwd);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${getSocketPrefix(cwd)}-00000000`);
  const server = createServer((socket) => onConnection(socket.on("error", () => {}))).listen(`${path}.sock`);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  writeFileSync(`${path}.json`, JSON.stringify({ version: VERSION, secret: randomUUID() }));
}

const HELLO = JSON.stringify({ jsonrpc: "2.0", method: "hello", params: { proof: "0", names: ["HOME"] } });

const RESULT = `${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { exit: "ok", json: {}, text: "wrong" } })}\n`;
const ACCEPTED = JSON.stringify({ jsonrpc: "2.0", method: "accepted", params: {} });

test.each([
  ["says nothing", (): void => {}],
  ["closes", (socket: Socket): void => void socket.end()],
  ["is no JSON-RPC", (socket: Socket): void => void socket.end("HTTP/1.1 200 OK\r\n\r\n[]\n")],
  ["does not know the secret", (socket: Socket): void => void socket.write(`${HELLO}\n`)],
  ["gives a result at once", (socket: Socket): void => void socket.write(RESULT)],
  ["gives a result after another hello", (socket: Socket): void => void socket.write(`${HELLO}\n${RESULT}`)],
  ["accepts at once", (socket: Socket): void => void socket.end(`${ACCEPTED}\n`)],
])("a process at the socket that %s is not used [O7]", async (_what, onConnection) => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const received: string[] = [];
  await impersonate(cwd, (socket) => {
    socket.on("data", (data) => received.push(String(data)));
    onConnection(socket);
  });
  expect(await skillgate(["call", "WhereSkill.word"], { cwd })).toEqual({ exit: 0, stdout: "no word\n", stderr: "" });
  expect(received).toEqual([]);
});

test("a server refuses what is no request of a command, and serves the next one [O7]", async () => {
  const cwd = project({ "skills/where.js": WHERE_SKILL });
  const { skillgate } = await serveProject(cwd);
  const [file = "", path = ""] = listSocketFiles(cwd).map((name) => join(getSocketsFolder(cwd), name));
  const { secret } = JSON.parse(readFileSync(file, "utf8"));
  const send = async (text: string): Promise<string> => {
    const socket = connect(path);
    socket.on("error", () => {}).write(text);
    let received = "";
    socket.on("data", (data) => (received += String(data)));
    await once(socket, "close");
    expect(received).not.toContain(secret);
    return received;
  };
  const operation = { kind: "call", path: "WhereSkill.word", input: { kind: "object", object: {} } };
  const params = { variables: "0", files: [null, null, null], operation, approval: "yes" };
  const perform = (change: object): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "perform", params: { ...params, ...change } })}\n`;
  const answers = await Promise.all([
    send("GET / HTTP/1.1\r\n\r\n"),
    send("[]\n"),
    send(perform({})),
    send(perform({ operation: { kind: "run" } })),
    send(perform({ approval: "always" })),
    send('{"jsonrpc":"2.0","id":1,"method":"shutdown"}\n'),
  ]);
  expect(answers.map((answer) => /"reason":"([^"]*)/.exec(answer)?.[1])).toEqual([
    "A message must be an object",
    "A message must be an object",
    "environment variables have other values",
    "A connection takes one request to perform an operation",
    "A connection takes one request to perform an operation",
    "The methods are perform, cancel and answer",
  ]);
  expect((await skillgate(["call", "WhereSkill.word"])).stdout).toBe("no word\n");
});
