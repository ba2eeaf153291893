import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";

import { expect, test } from "vitest";

import { createKeys } from "../../src/keys/index.ts";
import { type Database, openDatabase } from "../../src/store/index.ts";
import { project, skillgate, start } from "../surfaces/cli/command.ts";
import { post, serve } from "../surfaces/serving.ts";
import { createFolder, followQuestions, openMail } from "./mail.ts";

const OWNER = { authorization: "Bearer right" };

test("lists, shows and answers questions over HTTP: a caller sees its own, and an administrator answers [P6]", async () => {
  const { url, runtime } = await serve({}, { store: createFolder(), approvals: { wait: true } }, (t) => t === "right");
  const keys = createKeys(await runtime.database());
  const headerOf = async (name: string, permissions: readonly string[]): Promise<Record<string, string>> => ({
    authorization: `Bearer ${(await keys.create({ name, permissions })).text}`,
  });
  const user = await headerOf("user", ["call:*"]);
  const reader = await headerOf("reader", ["admin:Read", "see:*"]);
  const next = followQuestions(runtime);
  const call = post(`${url}/tools/run_code`, { code: "await device.TestSkill.pay()" }, user);
  const { id } = await next();
  const path = `${url}/approvals/${id}`;
  const stranger = await headerOf("stranger", ["call:*"]);
  expect(await (await fetch(`${url}/approvals`, { headers: user })).json()).toMatchObject({ approvals: [{ id }] });
  expect(await (await fetch(`${url}/approvals`, { headers: stranger })).json()).toEqual({ approvals: [] });
  expect((await post(path, { answer: "approve" }, user)).status).toBe(403);
  expect((await post(path, { answer: "approve" }, stranger)).status).toBe(404);
  expect(await (await fetch(`${url}/approvals`, { headers: reader })).json()).toMatchObject({ approvals: [{ id }] });
  expect(await (await fetch(path, { headers: reader })).json()).toMatchObject({
    id,
    path: "TestSkill.pay",
    plan: [{ line: 1, text: "TestSkill.pay()" }],
  });
  expect((await post(path, { answer: "approve" }, reader)).status).toBe(403);
  expect((await post(path, { answer: "maybe" }, OWNER)).status).toBe(400);
  expect((await post(`${url}/approvals/nope`, { answer: "approve" }, OWNER)).status).toBe(404);
  expect(await post(path, { answer: "approve" }, OWNER)).toMatchObject({ status: 200, json: { state: "approved" } });
  expect((await post(path, { answer: "deny" }, OWNER)).status).toBe(409);
  expect(JSON.stringify((await call).json)).toContain("paid");
});

test("refuses the answer of the key that made the call if an administrator is required [P6]", async () => {
  const { runtime: mail } = await openMail();
  const skills = [mail.catalog.skill("MailSkill")!.provided];
  const options = { store: createFolder(), skills, approvals: { wait: true } };
  const { url, runtime } = await serve({}, options, (text) => text === "right");
  const keys = createKeys(await runtime.database());
  const { text } = await keys.create({ name: "robot", permissions: ["call:*", "admin:AnswerApprovals"] });
  const robot = { authorization: `Bearer ${text}` };
  const next = followQuestions(runtime);
  const call = post(`${url}/tools/run_code`, { code: `await device.MailSkill.wipe("bob")` }, robot);
  const { id } = await next();
  const own = await post(`${url}/approvals/${id}`, { answer: "approve" }, robot);
  expect(own).toMatchObject({ status: 403, json: { fault: { data: { reason: expect.stringContaining("robot") } } } });
  await post(`${url}/approvals/${id}`, { answer: "approve" }, OWNER);
  expect(JSON.stringify((await call).json)).toContain("sent to bob");
});

const MAIL = `
/** Sends mail. */
export class MailSkill {
  /**
   * Delete all mails of a user.
   * @param {string} user
   * @returns {string}
   * @destructive
   */
  wipe(user) { return "wiped " + user; }
}
`;

/** Waits until a question is recorded by another process. */
async function findQuestion(database: Database): Promise<string> {
  for (;;) {
    let stop = (): void => {};
    const changed = new Promise<void>((resolve) => {
      stop = database.watch(resolve);
    });
    const [question] = await database.approvals.list("pending");
    if (question === undefined) await changed;
    stop();
    if (question !== undefined) return question.id;
  }
}

/** Changes one byte of the database of a project. */
function changeByte(cwd: string): void {
  const names = readdirSync(join(cwd, "state"), { recursive: true, encoding: "utf8" });
  const file = names.find((name) => /\.(?:db|sqlite)$/.test(name)) ?? "";
  const bytes = readFileSync(join(cwd, "state", file));
  const at = bytes.indexOf('"method":"MailSkill.wipe"');
  expect(at).toBeGreaterThan(0);
  bytes[at + '"method":"Mail'.length] = "X".charCodeAt(0);
  writeFileSync(join(cwd, "state", file), bytes);
}

test(
  "serves two keys: one does not see the skill, the other waits for a yes, and the log names a changed record [P1, P2, P6, P8]",
  { tags: "rest" },
  async () => {
    const settings = "store: { dir: state }\napprovals: { destructive: ask }\n";
    const cwd = project({ "skills/mail.js": MAIL, "settings.yaml": settings });
    const database = await openDatabase({ folder: join(cwd, "state") });
    const keys = createKeys(database);
    const headerOf = async (name: string, permission: string): Promise<Record<string, string>> => ({
      authorization: `Bearer ${(await keys.create({ name, permissions: [permission] })).text}`,
    });
    const stranger = await headerOf("stranger", "call:TimeSkill.*");
    const friend = await headerOf("friend", "call:MailSkill.*");
    const server = start(["serve", "--http", "--port", "0"], { cwd });
    let url = "";
    for await (const line of createInterface({ input: server.stderr! })) {
      url = /(?:Serving|MCP) at (http:\/\/[^/]+)/.exec(line)?.[1] ?? "";
      if (url !== "") break;
    }
    const code = `await device.MailSkill.wipe("bob")`;
    const hidden = await post(`${url}/tools/run_code`, { code }, stranger);
    expect(JSON.stringify(hidden.json)).toContain("SKILL_UNKNOWN");
    const call = post(`${url}/tools/run_code`, { code }, friend);
    const id = await findQuestion(database);
    const shown = await skillgate(["approvals", "show", id], { cwd });
    expect(shown.stdout).toContain(
      'asks to call MailSkill.wipe with\n{\n  "user": "bob"\n}\n  Delete all mails of a user.\n  destructive',
    );
    expect(await skillgate(["approvals", "approve", id], { cwd })).toMatchObject({ exit: 0 });
    expect(JSON.stringify((await call).json)).toContain("wiped bob");
    await database.close();
    const closed = once(server, "close");
    server.kill("SIGTERM");
    await closed;
    expect(await skillgate(["audit", "verify"], { cwd })).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("All is well"),
    });
    changeByte(cwd);
    expect(await skillgate(["audit", "verify"], { cwd })).toEqual({
      exit: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Record [12] was changed\n$/),
    });
  },
);
