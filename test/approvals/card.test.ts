import { expect, test } from "vitest";

import { type ApprovalRequest, defineSkill } from "../../src/index.ts";
import { followQuestions, openMail } from "./mail.ts";

test("shows the caller, the method with its marks, the arguments, the program and the expiry [P6]", async () => {
  const { runtime } = await openMail();
  const next = followQuestions(runtime);
  const source = `
    const names = ["bob"];
    for (const name of names) await device.MailSkill.send(name);
    if (names.length > 1) await device.MailSkill.wipe("eve\\u202e");`;
  const outcome = runtime.run(source);
  const { id, runId, card, expires } = await next();
  expect(card.split("\n")).toEqual([
    '"owner" asks to call MailSkill.send with',
    "{",
    '  "to": "bob"',
    "}",
    "  Send a mail",
    "  destructive",
    "The program contains these calls:",
    "  line 3: MailSkill.send(…) (in a loop)",
    String.raw`  line 4: MailSkill.wipe("eve\u202e") (under a condition)`,
    `Request ${id} of run ${runId} expires at ${new Date(expires).toISOString().replace("T", " ").slice(0, 19)} UTC, in 60 min`,
  ]);
  await runtime.approvals.answer(id, { approve: true });
  expect(await outcome).toMatchObject({ kind: "completed" });
});

test("masks configured secrets and shows invisible characters [P6, P9]", async () => {
  const requests: ApprovalRequest[] = [];
  const { runtime } = await openMail({ approve: (request) => requests.push(request) > 0 });
  runtime.secrets.add(["canary-7d1f"]);
  await runtime.run(`await device.MailSkill.send("canary-7d1f\\u200b")`);
  expect(requests[0]?.card).toContain(String.raw`"to": "[redacted]\u200b"`);
  expect(requests[0]?.card).not.toContain("canary");
  const [question] = await runtime.approvals.list();
  const asked = JSON.stringify(await runtime.approvals.get(question?.id ?? ""));
  expect(asked).toContain("[redacted]");
  expect(asked).not.toContain("canary");
});

test("stores and shows oversized arguments only in part, and says so [P6]", async () => {
  const { runtime } = await openMail();
  const next = followQuestions(runtime);
  const call = runtime.call("MailSkill.send", { to: "x".repeat(300_000) });
  const { id, card, ...question } = await next();
  const input = JSON.stringify(question.arguments);
  expect(card.length).toBeLessThan(6_000);
  expect(card).toContain("Only 4000 characters are shown. Approve only if you know the rest");
  expect(input.length).toBeLessThan(66_000);
  expect(input).toContain("(300009 characters in all)");
  await runtime.approvals.answer(id, { approve: true });
  expect(await call).toHaveLength("sent to ".length + 300_000);
});

test("bounds a long program: calls that the card does not show are not covered [P6]", async () => {
  const { runtime, sent } = await openMail();
  const asked: string[] = [];
  runtime.on("approval", ({ id, plan, scopes }) => {
    asked.push(id);
    expect(plan).toHaveLength(30);
    expect(scopes).toContain("plan");
    void runtime.approvals.answer(id, { approve: true, scope: asked.length === 1 ? "plan" : "once" });
  });
  const calls = Array.from({ length: 32 }, (_, at) => `await device.MailSkill.send("user${at}");`);
  expect(await runtime.run(calls.join("\n"))).toMatchObject({ kind: "completed" });
  expect(sent).toHaveLength(32);
  expect(asked).toHaveLength(3);
});

test("asks before destructive methods when the setting says so [P6]", async () => {
  const DiskSkill = defineSkill({
    name: "DiskSkill",
    description: "Is a disk",
    methods: {
      erase: { description: "Erase", destructive: true, run: () => "erased" },
      read: { description: "Read", readOnly: true, run: () => "read" },
    },
  });
  const { runtime } = await openMail({ skills: [DiskSkill], approvals: { destructive: "ask" } });
  const next = followQuestions(runtime);
  expect(await runtime.call("DiskSkill.read", {})).toBe("read");
  const call = runtime.call("DiskSkill.erase", {});
  await runtime.approvals.answer((await next()).id, { approve: true });
  expect(await call).toBe("erased");
});
