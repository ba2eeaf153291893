import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import { defineSkill } from "../../src/index.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { Runtime } from "../../src/runtime.ts";
import { createConsoleEndpoints } from "../../src/surfaces/console/api/index.ts";
import type { ConsoleServices } from "../../src/surfaces/console/services.ts";
import { followQuestions } from "../approvals/mail.ts";
import { serveConsole } from "../surfaces/console/browser.ts";

/** An argument of a method that the key may not see. */
const HIDDEN = "hidden-argument-4711";

interface Route {
  readonly method: string;
  readonly path: string;
}

interface Attacked {
  readonly url: string;
  readonly runtime: Runtime;
  readonly project: string;
  /** Runs and questions: those of the owner with the hidden method, and an own question of the key. */
  readonly ids: readonly string[];
  readonly ownQuestion: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a key achieved. */
interface Damage {
  readonly hasReadHidden: boolean;
  readonly hasRunCommand: boolean;
  readonly hasApprovedForGood: boolean;
  readonly hasMadeKey: boolean;
}

async function serveAttacked(permissions: readonly string[]): Promise<Attacked> {
  const project = mkdtempSync(join(tmpdir(), "skillgate-admin-routes-"));
  onTestFinished(() => rmSync(project, { recursive: true, force: true }));
  mkdirSync(join(project, "policies"));
  writeFileSync(join(project, "policies", "tools.yaml"), "");
  writeFileSync(join(project, "settings.yaml"), "approvals: { wait: true }\nruns: { record: full }\n");
  const input = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
  const run = ({ text }: { readonly text: string }): string => text;
  const methods = { see: { description: "Sees", input, run } };
  const SecretSkill = defineSkill({ name: "SecretSkill", description: "Of others", methods });
  const ask = { description: "Asks", approval: "user" as const, input, run };
  const PublicSkill = defineSkill({ name: "PublicSkill", description: "For all", methods: { ask } });
  const { url, runtime } = await serveConsole({
    project,
    runtime: { skills: [SecretSkill, PublicSkill], trust: "given", approvals: { wait: true } },
    settings: { auth: true },
  });
  const keys = createKeys(await runtime.database());
  const { text, key } = await keys.create({ name: "attacker", permissions });
  const secret = await runtime.run(`return await device.SecretSkill.see({ text: "${HIDDEN}" })`);
  const next = followQuestions(runtime);
  const caller = (await keys.findCaller(key.id))?.caller;
  void runtime.run(`await device.PublicSkill.ask({ text: "own" })`, { ...(caller && { caller }) });
  const { id: ownQuestion } = await next();
  return {
    url,
    runtime,
    project,
    ids: [secret.runId, ownQuestion, "attacker", "new", "PublicSkill", "PublicSkill.ask", "1"],
    ownQuestion,
    headers: { authorization: `Bearer ${text}`, "content-type": "application/json", "x-skillgate-console": "1" },
  };
}

/** All routes of the OpenAPI document that the caller gets, and all routes of the console. */
async function listRoutes({ url, headers }: Attacked): Promise<readonly Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`, { headers })).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const open = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const services = { runtime: {}, http: {}, sessions: {}, activity: {}, events: {} } as unknown as ConsoleServices;
  const pages = Object.keys(createConsoleEndpoints(services)).map((route) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path: `/console/api${path.replaceAll(/:\w+(?:\{.*\})?/g, "{id}")}` };
  });
  expect(open.map(({ path }) => path)).toContain("/approvals/{id}");
  expect(pages.length).toBeGreaterThan(30);
  return [...open, ...pages];
}

/** One body that fits every route: each reads the members that it knows. */
function createBody({ project }: Attacked): object {
  const code = `require("fs").writeFileSync(${JSON.stringify(join(project, "ran"))}, "")`;
  const entry = { command: process.execPath, args: ["-e", code] };
  const program = `return await device.SecretSkill.see({ text: "x" })`;
  return {
    answer: "approve",
    for: "always",
    enabled: true,
    acceptsChanges: true,
    name: "new",
    entry,
    scope: "project",
    permissions: ["call:*"],
    values: {},
    overlapMs: 0,
    code: program,
    source: program,
    text: "tests: []",
    query: "see",
    path: "SecretSkill.see",
  };
}

/** Tries every route with every id, and the body. */
async function attack(attacked: Attacked): Promise<Damage> {
  const { url, runtime, project, ids, ownQuestion, headers } = attacked;
  const body = JSON.stringify(createBody(attacked));
  let hasReadHidden = false;
  // Routes that log out, end the run or open a stream without an end are tried last, or not.
  const routes = (await listRoutes(attacked)).filter(({ path }) => !/events|\/session|chat|\/mcp|cancel/.test(path));
  for (const { method, path } of routes.toSorted((a) => (a.method === "DELETE" ? 1 : -1))) {
    const first = /\{\w+\}/.test(path) ? ids : [""];
    for (const id of first)
      for (const other of /\{\w+\}.*\{\w+\}/.test(path) ? [ids[0] ?? ""] : [""]) {
        const address = path.replace(/\{\w+\}/, encodeURIComponent(id)).replace(/\{\w+\}/, encodeURIComponent(other));
        const init = { method, headers, ...(method !== "GET" && { body }), signal: AbortSignal.timeout(10_000) };
        const answer = await fetch(url + address, init).then((response) => response.text());
        if (answer.includes(HIDDEN)) hasReadHidden = true;
      }
  }
  expect(await runtime.approvals.get(ownQuestion)).toMatchObject({ caller: expect.stringContaining("attacker") });
  const { scope } = (await runtime.approvals.get(ownQuestion)) ?? {};
  return {
    hasReadHidden,
    hasRunCommand: existsSync(join(project, "ran")),
    hasApprovedForGood: scope === "always" || existsSync(join(project, "policies", "approved.yaml")),
    hasMadeKey: (await createKeys(await runtime.database()).list()).length > 1,
  };
}

test("no route lets an administrator's key read hidden arguments, run a command, make a key, or approve its own call for good [P2, P6, V4]", async () => {
  const attacked = await serveAttacked([
    "call:PublicSkill.*",
    "admin:Read",
    "admin:AnswerApprovals",
    "admin:ManageRuns",
  ]);
  expect(await attack(attacked)).toEqual({
    hasReadHidden: false,
    hasRunCommand: false,
    hasApprovedForGood: false,
    hasMadeKey: false,
  });
  expect(await attacked.runtime.approvals.get(attacked.ownQuestion)).toMatchObject({
    state: "approved",
    scope: "once",
  });
});

test("the same attack finds what a key may do that sees all methods and manages servers [P2, V4]", async () => {
  const permissions = ["call:*", "admin:Read", "admin:AnswerApprovals", "admin:ManageServers"];
  expect(await attack(await serveAttacked(permissions))).toEqual({
    hasReadHidden: true,
    hasRunCommand: true,
    hasApprovedForGood: false,
    hasMadeKey: false,
  });
});
