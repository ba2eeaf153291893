import { expect, test } from "vitest";

import { defineSkill } from "../../src/authoring/define-skill.ts";
import { createKeys } from "../../src/keys/index.ts";
import type { Caller } from "../../src/model/caller.ts";
import type { ProvidedSkill } from "../../src/model/skill.ts";
import { createRuntime, type Runtime } from "../../src/runtime.ts";
import { folder, oldClient, type Parsed, post, serve } from "../surfaces/serving.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;

const CalendarSkill = defineSkill({
  name: "CalendarSkill",
  description: "Keeps appointments",
  methods: {
    create: { description: "Create an appointment in the calendar", input: TEXT, run: () => 1 },
    list: { description: "List appointments of a day", run: () => [] },
  },
});

/** Shares words with the visible skill, and has others that are nearly like its words. */
const VaultSkill = defineSkill({
  name: "CalenderVaultSkill",
  description: "Stores the appointmant codes of a calender in a vault",
  methods: {
    create_code: {
      description: "Create a code for an appointmant, an appointment or a day",
      input: TEXT,
      run: () => 1,
    },
    lisst: { description: "List codes of the calender", run: () => [] },
  },
});

const CALLER: Caller = { id: "ada", permissions: ["call:CalendarSkill.*"] };

async function open(skills: readonly ProvidedSkill[]): Promise<Runtime> {
  const runtime = await createRuntime({ skillsDir: false, skills, store: folder(), workers: 1 });
  await runtime.index();
  return runtime;
}

/** Everything that a caller can ask without a side effect, as text. */
async function ask(runtime: Runtime, caller: Caller): Promise<Readonly<Record<string, unknown>>> {
  const answers: Record<string, unknown> = {};
  const words = ["appointment", "appointmant", "calender", "calendar code", "list", "lisst", "create", "vault", "code"];
  for (const query of [...words, "create an appointment of a day", "", "CalenderVaultSkill.lisst"]) {
    const { results, text } = runtime.search(query, { caller, limit: 20 });
    answers[`search ${query}`] = [results.map(({ path, score, signature }) => ({ path, score, signature })), text];
  }
  for (const path of ["CalendarSkill", "CalenderVaultSkill", "CalendarSkill.lisst", "CalenderVaultSkill.lisst"])
    answers[`describe ${path}`] = runtime.describe(path, { caller });
  for (const code of ["device.CalendarSkill.lisst()", "device.CalenderVaultSkill.lisst()", "lisst()", "vault"]) {
    const { violations, notes } = runtime.check(code, { caller });
    answers[`check ${code}`] = [violations, notes];
    const { text } = await runtime.run(`search_skills("calender"); ${code}`, { caller });
    answers[`run ${code}`] = text;
  }
  answers["declarations"] = runtime.declarations(undefined, { caller });
  answers["prompt"] = runtime.systemPrompt({ caller });
  answers["brief"] = runtime.briefCatalog({ caller });
  answers["saved"] = runtime.observed({ caller });
  return answers;
}

test("answers a caller as if the methods did not exist that it may not read [P2]", async () => {
  const [whole, part] = [await open([CalendarSkill, VaultSkill]), await open([CalendarSkill])];
  await using _whole = whole;
  await using _part = part;
  await whole.run("device.CalenderVaultSkill.lisst()");
  expect(await ask(whole, CALLER)).toEqual(await ask(part, CALLER));
  // The probe: another caller gets other answers.
  expect(await ask(whole, { id: "bob", permissions: ["call:*"] })).not.toEqual(
    await ask(part, { id: "bob", permissions: ["call:*"] }),
  );
});

const PaySkill = defineSkill({
  name: "PaySkill",
  description: "Pays",
  methods: {
    pay: { description: "Pay", approval: "user", input: TEXT, run: () => "paid" },
    account: { description: "Find the account", run: () => "an account of a customer" },
  },
});

const AskSkill = defineSkill({
  name: "AskSkill",
  description: "Asks",
  methods: { go: { description: "Go", approval: "user", destructive: true, input: TEXT, run: () => "gone" } },
});

test("shows an administrator no approval, plan or provenance of methods that it may not read [P2, P6]", async () => {
  const { url, runtime } = await serve(
    { expose: "both" },
    { skills: [PaySkill, AskSkill], store: folder(), approvals: { wait: true } },
    (token) => token === "right",
  );
  const owner = { authorization: "Bearer right" };
  const keys = createKeys(await runtime.database());
  const { text } = await keys.create({
    name: "ada",
    permissions: ["call:AskSkill.*", "admin:AnswerApprovals", "admin:ManageRuns", "admin:ManageServers"],
  });
  const admin = { authorization: `Bearer ${text}` };
  const codes = [
    `await device.PaySkill.pay("secret thing")`,
    `const a = await device.PaySkill.account(); await device.AskSkill.go(a); await device.PaySkill.pay(a)`,
  ];
  const runs = codes.map((code) => post(`${url}/tools/run_code`, { code }, owner));
  const all = await waitForApprovals(url, owner, 2);
  const hidden = all.find(({ path }) => path === "PaySkill.pay");
  const visible = all.find(({ path }) => path === "AskSkill.go");
  expect(await (await fetch(`${url}/approvals/${visible.id}`, { headers: owner })).text()).toContain("PaySkill");
  const listed = (await (await fetch(`${url}/approvals`, { headers: admin })).json()) as Parsed;
  expect(listed.approvals.map(({ path }: Parsed) => path)).toEqual(["AskSkill.go"]);
  const shown = await (await fetch(`${url}/approvals/${visible.id}`, { headers: admin })).text();
  const answers = [
    JSON.stringify(listed),
    shown,
    await (await fetch(`${url}/approvals/${hidden.id}`, { headers: admin })).text(),
    JSON.stringify((await post(`${url}/approvals/${hidden.id}`, { answer: "approve" }, admin)).json),
    JSON.stringify((await post(`${url}/approvals/${hidden.id.slice(1)}`, { answer: "approve" }, admin)).json),
  ];
  expect(answers.filter((answer) => /PaySkill|secret thing/.test(answer))).toEqual([]);
  // A wrong id is not corrected to one of a hidden question.
  expect(answers.at(-1)).not.toContain(hidden.id);
  expect((await fetch(`${url}/approvals/${hidden.id}`, { headers: admin })).status).toBe(404);
  expect((await post(`${url}/approvals/${hidden.id}`, { answer: "approve" }, admin)).status).toBe(404);
  const approved = await post(`${url}/approvals/${visible.id}`, { answer: "approve" }, admin);
  expect([approved.status, JSON.stringify(approved.json).includes("PaySkill")]).toEqual([200, false]);
  for (const { id } of await waitForApprovals(url, owner, 2))
    await post(`${url}/approvals/${id}`, { answer: "deny" }, owner);
  await Promise.all(runs);
});

/** Returns the open questions when there are as many. */
async function waitForApprovals(
  url: string,
  headers: Record<string, string>,
  count: number,
): Promise<readonly Parsed[]> {
  for (;;) {
    const { approvals } = (await (await fetch(`${url}/approvals`, { headers })).json()) as Parsed;
    if (approvals.length >= count) return approvals;
  }
}

test("gives no resources and prompts to a caller that may read the methods of a skill but not call them [P2]", async () => {
  const offers = {
    resources: [{ uri: "notes://all", name: "all", description: "Notes" }],
    templates: [],
    prompts: [{ name: "write", description: "Write" }],
    read: async () => ({ contents: [{ uri: "notes://all", text: "a private note" }] }),
    prompt: async () => ({ messages: [] }),
  };
  const { url, runtime } = await serve(
    { expose: "both" },
    { skills: [{ ...CalendarSkill, offers }], store: folder() },
    () => false,
  );
  const keys = createKeys(await runtime.database());
  const headerOf = async (permission: string) => ({
    authorization: `Bearer ${(await keys.create({ name: permission.slice(0, 3), permissions: [permission] })).text}`,
  });
  const caller = await oldClient(url, await headerOf("call:CalendarSkill.*"));
  expect(JSON.stringify(await caller.readResource({ uri: "notes://all" }))).toContain("a private note");
  const reader = await oldClient(url, await headerOf("see:CalendarSkill.*"));
  expect(JSON.stringify([await reader.listResources(), await reader.listPrompts()])).not.toMatch(/notes|write"/);
  await expect(reader.readResource({ uri: "notes://all" })).rejects.toThrow(/not found/i);
});
