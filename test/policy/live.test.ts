import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";

const MailSkill = defineSkill({
  name: "MailSkill",
  description: "Sends mail",
  methods: {
    send: { description: "Send a mail", run: async () => "sent" },
    purge: { description: "Delete all mails", destructive: true, run: async () => "purged" },
  },
});

/** A folder with files, removed at the end of the test. */
function createProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-policy-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) write(folder, name, text);
  return folder;
}

/** Replaces a file in one step, as editors do. */
function write(folder: string, name: string, text: string): void {
  mkdirSync(join(folder, "policies"), { recursive: true });
  writeFileSync(join(folder, `${name}.new`), text);
  renameSync(join(folder, `${name}.new`), join(folder, name));
}

async function openRuntime(cwd: string, options: RuntimeOptions = {}): Promise<Runtime> {
  const runtime = await createRuntime({
    cwd,
    skillsDir: false,
    skills: [MailSkill],
    discover: true,
    env: {},
    ...options,
  });
  onTestFinished(() => runtime.close());
  return runtime;
}

const codeOf = async (runtime: Runtime, source: string, caller?: Parameters<Runtime["run"]>[1]): Promise<string> => {
  const outcome = await runtime.run(source, caller);
  if (outcome.kind === "completed") return String(outcome.value);
  if (outcome.kind === "waiting") return outcome.kind;
  return outcome.kind === "refused" ? (outcome.violations[0]?.code ?? "") : outcome.error.code;
};

test("refuses a denied method when the program is checked, before any call [P4]", async () => {
  const runtime = await openRuntime(createProject({ "policies/tools.yaml": "MailSkill.send: { decision: deny }" }));
  const outcome = await runtime.run("await device.MailSkill.purge();\nawait device.MailSkill.send()");
  expect(outcome).toMatchObject({
    kind: "refused",
    violations: [
      {
        code: "POLICY_DENIED",
        message:
          "Cannot call a method that the policy denies: MailSkill.send, because policies/tools.yaml line 1 denies it (POLICY_DENIED)",
        line: 2,
      },
    ],
  });
  expect(runtime.audit()).toEqual([]);
  expect(runtime.describe("MailSkill.send").notes).toEqual(["Denied: the policy allows no call"]);
});

test("refuses a caller without the scopes of the policy, and passes one with a role that has them [P3, P4]", async () => {
  const cwd = createProject({
    "policies/tools.yaml": "MailSkill.*: { required_scopes: [mail:send] }",
    "policies/roles.yaml": "sender: [mail:send]",
  });
  const runtime = await openRuntime(cwd);
  const ada = { id: "ada", permissions: ["call:*"] };
  const source = "device.MailSkill.send()";
  expect(await runtime.run(source, { caller: ada })).toMatchObject({
    kind: "refused",
    violations: [
      {
        message:
          'Cannot call a method without its permission: MailSkill.send, because the caller "ada" lacks the scope mail:send, which policies/tools.yaml line 1 requires (PERMISSION_MISSING)',
      },
    ],
  });
  expect(await codeOf(runtime, source, { caller: { ...ada, roles: ["sender"] } })).toBe("sent");
  expect(await codeOf(runtime, source)).toBe("sent");
  expect(await codeOf(runtime, source, { caller: ada })).toBe("PERMISSION_MISSING");
});

test("asks before destructive methods if the settings say so, and before methods whose row says so [P4, P6]", async () => {
  const cwd = createProject({
    "settings.yaml": "approvals: { destructive: ask }",
    "policies/tools.yaml": "MailSkill.send: { decision: ask, approval: admin }",
  });
  const asked: string[] = [];
  const runtime = await openRuntime(cwd, { approve: ({ path, approval }) => asked.push(`${path} ${approval}`) > 1 });
  expect(await codeOf(runtime, "device.MailSkill.purge()")).toBe("APPROVAL_MISSING");
  expect(await codeOf(runtime, "device.MailSkill.send()")).toBe("sent");
  expect(asked).toEqual(["MailSkill.purge user", "MailSkill.send admin"]);
  expect(runtime.describe("MailSkill.send").notes[0]).toBe("Needs the approval of an administrator for each call");
});

test("limits the rate with the seconds to wait [P4, P5]", async () => {
  const runtime = await openRuntime(createProject({ "policies/tools.yaml": "MailSkill.*: { rate_limit: 1 }" }));
  expect(await runtime.call("MailSkill.send", {})).toBe("sent");
  await expect(runtime.call("MailSkill.send", {})).rejects.toMatchObject({
    code: "RATE_LIMIT",
    facts: { retryAfterSeconds: expect.closeTo(60, -1) as number },
  });
  expect(await runtime.call("MailSkill.purge", {})).toBe("purged");
});

test("refuses to start with a broken policy [P4]", async () => {
  const cwd = createProject({ "policies/tools.yaml": "A.b: { decision: no }\nC.d: 1" });
  await expect(openRuntime(cwd)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message:
      'Cannot read the configuration: policies/tools.yaml line 1, column 8: "decision" must be allow, ask or deny, not "no" (CONFIG_INVALID); 1 more mistake',
  });
  await expect(createRuntime({ skillsDir: false, cwd, policy: "none.yaml" })).rejects.toThrow("it does not exist");
});

test("applies a changed file without a restart, and keeps the last correct one [P4]", async () => {
  const cwd = createProject({});
  const runtime = await openRuntime(cwd, { watch: true });
  const source = "device.MailSkill.send()";
  expect(await codeOf(runtime, source)).toBe("sent");
  const logged: string[] = [];
  const listeners: (() => void)[] = [];
  runtime.on("log", ({ text }) => (logged.push(text), listeners.forEach((listener) => listener())));
  const change = async (text: string): Promise<string | undefined> => {
    const heard = new Promise<void>((resolve) => listeners.push(resolve));
    write(cwd, "policies/tools.yaml", text);
    await heard;
    return logged.at(-1);
  };
  expect(await change("MailSkill.send: { decision: deny }")).toBe("The changed policy is in force");
  expect(await codeOf(runtime, source)).toBe("POLICY_DENIED");
  expect(await change("MailSkill.send: { decision: maybe }")).toBe(
    'Cannot use the changed policy: Cannot read the configuration: policies/tools.yaml line 1, column 19: "decision" must be allow, ask or deny, not "maybe" (CONFIG_INVALID). The policy before the change stays in force',
  );
  expect(runtime.problems).toMatchObject([{ source: "policies/tools.yaml" }]);
  expect(await codeOf(runtime, source)).toBe("POLICY_DENIED");
  await change("MailSkill.send: { decision: allow }");
  expect(await codeOf(runtime, source)).toBe("sent");
  expect(runtime.problems).toEqual([]);
});

test("applies a changed setting of approvals without a restart [P4, P6]", async () => {
  const cwd = createProject({ "settings.yaml": "" });
  const runtime = await openRuntime(cwd, { watch: true });
  expect(await codeOf(runtime, "device.MailSkill.purge()")).toBe("purged");
  const changed = new Promise<void>((resolve) => void runtime.on("log", () => resolve()));
  write(cwd, "settings.yaml", "approvals: { destructive: ask }");
  await changed;
  expect(await codeOf(runtime, "device.MailSkill.purge()")).toBe("APPROVAL_MISSING");
});

test("lets a project that is not trusted only tighten, until its owner trusts it [P4, P12]", async () => {
  const cwd = createProject({
    "policies/tools.yaml": "MailSkill.purge: { decision: allow }\nMailSkill.send: { decision: deny }",
    "settings.yaml": "approvals: { destructive: ask }",
  });
  const env = { HOME: createProject({}) };
  const held = await openRuntime(cwd, { env, trust: "recorded" });
  expect(await codeOf(held, "device.MailSkill.purge()")).toBe("APPROVAL_MISSING");
  expect(await codeOf(held, "device.MailSkill.send()")).toBe("POLICY_DENIED");
  expect(held.problems.map(({ error }) => error)).toEqual([
    "Held, as this folder is not trusted yet: policies/tools.yaml",
  ]);
  const given = await openRuntime(cwd, { env });
  expect(await codeOf(given, "device.MailSkill.purge()")).toBe("purged");
});
