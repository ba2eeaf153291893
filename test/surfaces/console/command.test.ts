// @module-tag rest

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";

import { BIN, project, skillgate } from "../cli/command.ts";

/** Starts a command that serves, and returns the first line on stderr that matches. */
async function start(
  cwd: string,
  args: readonly string[],
  line: RegExp,
): Promise<{ child: ChildProcess; text: string }> {
  const env = { ...process.env, HOME: cwd, XDG_STATE_HOME: `${cwd}/.state`, XDG_CONFIG_HOME: `${cwd}/.config` };
  const child = spawn(process.execPath, [BIN, ...args], { cwd, env, stdio: ["ignore", "ignore", "pipe"] });
  onTestFinished(async () => {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill("SIGINT")) await ended;
  });
  for await (const text of createInterface(child.stderr)) if (line.test(text)) return { child, text };
  throw new Error("the command has ended");
}

test("opens the console of a server that runs, by a link that logs in once [O2]", async () => {
  const cwd = project();
  const env = { HOME: cwd, XDG_STATE_HOME: `${cwd}/.state`, XDG_CONFIG_HOME: `${cwd}/.config` };
  const { text } = await start(cwd, ["serve", "--http", "--port", "0"], /web console/);
  const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(text) ?? [];
  const { exit, stdout } = await skillgate(["console", "--json"], { cwd, env });
  const link: string = JSON.parse(stdout).url;
  expect([exit, link.startsWith(`${url}/login#`)]).toEqual([0, true]);
  const logIn = (): Promise<Response> =>
    fetch(`${url}/console/api/session`, {
      method: "POST",
      headers: { "x-skillgate-console": "1", "content-type": "application/json" },
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    });
  expect([(await logIn()).status, (await logIn()).status]).toEqual([204, 401]);
});

test("serves a console of its own where no server runs, without a token [O2]", async () => {
  const { text } = await start(project(), ["console"], /\/login#/);
  const page = await fetch(text, { headers: { accept: "text/html" } });
  expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
});

test("serves no pages with --no-console [O2]", async () => {
  const { text } = await start(project(), ["serve", "--http", "--port", "0", "--no-console"], /Serving/);
  expect(text).not.toContain("console");
  const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(text) ?? [];
  const page = await fetch(url, { headers: { accept: "text/html" } });
  expect([page.status, await page.text()]).toEqual([200, expect.not.stringContaining("<script")]);
  expect((await fetch(`${url}/console/api/session`)).status).not.toBe(200);
});

test("serves where its state cannot be written, and says that the console is not found there [O2]", async () => {
  const cwd = project({ ".state": "this is no folder" });
  const server = await start(cwd, ["serve", "--http", "--port", "0"], /skillgate console does not find this server/);
  expect(server.text).toContain("EEXIST");
  const { text } = await start(cwd, ["serve", "--http", "--port", "0"], /Serving the web console/);
  const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(text) ?? [];
  expect((await fetch(`${url}/health`)).status).toBe(200);
});
