// @module-tag rest

import { expect, test } from "vitest";

import {
  ended,
  FILESYSTEM_SERVER,
  MATH_SKILL,
  meetingPoint,
  project,
  runProcess as skillgate,
  start,
} from "../command.ts";

/** The filesystem server, in a process that says that it lives. */
const SERVER = `require("node:net").connect("meeting-point").on("connect", () => import(${JSON.stringify(FILESYSTEM_SERVER)}));`;

/** Never answers, and ignores end of input and termination signals. */
const STUBBORN = `require("node:net").connect("meeting-point");
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});`;

function projectWith(server: string): string {
  // After -e, the arguments begin where Node expects the name of the program.
  const entry = { command: process.execPath, args: ["-e", server, "server", "."] };
  return project({ "skills/math.js": MATH_SKILL, ".mcp.json": JSON.stringify({ mcpServers: { filesystem: entry } }) });
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("cancels the run after %s, ends all children, and exits with %i [M9]", async (signal, exit) => {
  const cwd = projectWith(SERVER);
  const { path, next } = await meetingPoint(cwd);
  const code = `await device.FilesystemMCP.list_directory("."); await device.MathSkill.wait(${JSON.stringify(path)})`;
  const child = start(["run", "-e", code, "--json"], { cwd });
  const outcome = ended(child);
  const lives = [await next(), await next()];
  child.kill(signal);
  const { stdout, ...rest } = await outcome;
  expect(rest).toEqual({ exit, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({ kind: "failed", error: { code: "CANCELLED" } });
  await Promise.all(lives.map((life) => life.ended));
});

test("ends at once at a second Ctrl-C, even with a server that ignores signals [M9]", async () => {
  const cwd = projectWith(STUBBORN);
  const { next } = await meetingPoint(cwd);
  const child = start(["search", "anything"], { cwd });
  const outcome = ended(child);
  const server = await next();
  const impatience = setInterval(() => child.kill("SIGINT"), 150);
  const { exit, stdout } = await outcome;
  clearInterval(impatience);
  expect({ exit, stdout }).toEqual({ exit: 130, stdout: "" });
  await server.ended;
});

test("says after a Ctrl-C that a second one ends a command which has not ended yet [M9]", async () => {
  const cwd = projectWith(STUBBORN);
  const { next } = await meetingPoint(cwd);
  const child = start(["search", "anything"], { cwd });
  const outcome = ended(child);
  const server = await next();
  child.kill("SIGINT");
  const { exit, stdout, stderr } = await outcome;
  expect({ exit, stdout }).toEqual({ exit: 130, stdout: "" });
  expect(stderr.split("\n")).toContain("Not ended yet; Ctrl-C again ends it at once");
  await server.ended;
});

test("stops waiting for a server at Ctrl-C, with a sentence [O1]", async () => {
  const cwd = projectWith(SERVER.replace(/import.*;$/, "{});"));
  const { next } = await meetingPoint(cwd);
  const child = start(["search", "anything", "--json"], { cwd });
  const outcome = ended(child);
  const server = await next();
  child.kill("SIGINT");
  const { exit, stdout } = await outcome;
  expect(exit).toBe(130);
  expect(JSON.parse(stdout)).toEqual({
    error: {
      code: "CANCELLED",
      message: "The run was cancelled: interrupted (Ctrl-C) (CANCELLED)",
    },
  });
  await server.ended;
});

test("stops waiting for stdin at Ctrl-C [O1]", async () => {
  const child = start(["run", "-"], { cwd: project() });
  const outcome = ended(child);
  // More than a pipe can hold: once it is written, the command is there and reads.
  child.stdin?.write(" ".repeat(1 << 20), () => child.kill("SIGINT"));
  const { exit, stdout, stderr } = await outcome;
  expect({ exit, stdout }).toEqual({ exit: 130, stdout: "" });
  expect(stderr).toBe("Interrupted\n");
});

test("ends all children after a run that ended by itself [M9]", async () => {
  const cwd = projectWith(SERVER);
  const { next } = await meetingPoint(cwd);
  const [{ exit }, server] = await Promise.all([
    skillgate(["run", "-e", 'device.FilesystemMCP.list_directory(".")'], { cwd }),
    next(),
  ]);
  expect(exit).toBe(0);
  await server.ended;
});
