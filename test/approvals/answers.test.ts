import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import type { ApprovalScope, Caller, RunOptions } from "../../src/index.ts";
import { OWNER } from "../../src/model/caller.ts";
import { createFolder, followQuestions, openMail } from "./mail.ts";

const ADA: Caller = { id: "ada", permissions: ["call:*"] };

test("asks about each effect of a program from elsewhere, also after a restart [P6] [R2]", async () => {
  const store = createFolder();
  const { runtime: first } = await openMail({ store, approvals: { holdSeconds: 0.1 } });
  const source = "[await device.MailSkill.count(), await device.MailSkill.count()]";
  const { runId } = await first.run(source, { asksForEffects: true });
  await first.close();
  const { runtime } = await openMail({ store });
  const [question] = await runtime.approvals.list("pending");
  expect(question).toMatchObject({ path: "MailSkill.count", scopes: ["once", "run", "plan"] });
  const asked = await runtime.approvals.get(question?.id ?? "");
  expect(asked?.card).toContain("Note: the program stands word for word in a result that the model has read");
  const next = followQuestions(runtime);
  const outcome = runtime.runs.resume(runId);
  await runtime.approvals.answer(question?.id ?? "", { approve: true });
  await runtime.approvals.answer((await next()).id, { approve: true });
  expect(await outcome).toMatchObject({ kind: "completed", value: [0, 0] });
});

describe("one question", () => {
  test("waits for a yes, and continues with the call [P6]", async () => {
    const { runtime, sent } = await openMail();
    const next = followQuestions(runtime);
    const outcome = runtime.run(`await device.MailSkill.send("bob")`);
    const { id } = await next();
    expect(sent).toEqual([]);
    expect(await runtime.approvals.answer(id, { approve: true })).toMatchObject({
      id,
      state: "approved",
      scope: "once",
    });
    expect(await outcome).toMatchObject({ kind: "completed", value: "sent to bob" });
    expect(await runtime.approvals.get(id)).toMatchObject({ answeredBy: "owner", usedAt: expect.any(Number) });
  });

  test("gives the program an error that it can catch when a person denies it [P6]", async () => {
    const { runtime, sent } = await openMail();
    const next = followQuestions(runtime);
    const outcome = runtime.run(
      `try { await device.MailSkill.send("bob") } catch (error) { [error.code, error.message] }`,
    );
    await runtime.approvals.answer((await next()).id, { approve: false });
    const message =
      'Cannot call a method without an approval: caller "owner" calls "MailSkill.send", which was denied; ' +
      "continue without this call (APPROVAL_MISSING)";
    expect(await outcome).toMatchObject({ value: ["APPROVAL_MISSING", message] });
    expect(sent).toEqual([]);
  });

  test("lets the other calls of the run go on while it waits [P6]", async () => {
    const { runtime } = await openMail();
    const next = followQuestions(runtime);
    const counted = new Promise<void>((resolve) => {
      runtime.on("call", ({ path }) => path === "MailSkill.count" && resolve());
    });
    const outcome = runtime.run(`await Promise.all([device.MailSkill.send("bob"), device.MailSkill.count()])`);
    const { id } = await next();
    await counted;
    expect(await runtime.approvals.get(id)).toMatchObject({ state: "pending", isWaiting: true });
    await runtime.approvals.answer(id, { approve: true });
    expect(await outcome).toMatchObject({ value: ["sent to bob", 0] });
  });

  test("ends with a sentence of its own when no answer comes in time [P6]", async () => {
    const { runtime } = await openMail({ approvals: { expireSeconds: 0.05 } });
    const next = followQuestions(runtime);
    const outcome = runtime.run(`await device.MailSkill.send("bob")`);
    const { id } = await next();
    expect(await outcome).toMatchObject({
      kind: "failed",
      error: {
        code: "APPROVAL_EXPIRED",
        message: expect.stringMatching(
          /^No answer to the approval request came in time: caller "owner" calls "MailSkill.send", and request \w{10} expired/,
        ),
      },
    });
    await expect(runtime.approvals.answer(id, { approve: true })).rejects.toMatchObject({
      code: "APPROVAL_CLOSED",
      message: `Cannot answer an approval request that is closed: request ${id} has expired (APPROVAL_CLOSED)`,
    });
  });

  test("is closed with its run, and a later answer is refused [P6]", async () => {
    const { runtime, sent } = await openMail();
    const next = followQuestions(runtime);
    const controller = new AbortController();
    const outcome = runtime.run(`await device.MailSkill.send("bob")`, { signal: controller.signal });
    const { id } = await next();
    controller.abort();
    expect(await outcome).toMatchObject({ error: { code: "CANCELLED" } });
    await expect(runtime.approvals.answer(id, { approve: true })).rejects.toMatchObject({
      code: "APPROVAL_CLOSED",
      message: `Cannot answer an approval request that is closed: request ${id} belongs to a run that has ended (APPROVAL_CLOSED)`,
    });
    expect(sent).toEqual([]);
  });

  test("accepts exactly one of two answers at once [P6]", async () => {
    const { runtime } = await openMail({ store: createFolder() });
    const next = followQuestions(runtime);
    const outcome = runtime.run(`try { await device.MailSkill.send("bob") } catch { "denied" }`);
    const { id } = await next();
    const answers = await Promise.allSettled([
      runtime.approvals.answer(id, { approve: true }),
      runtime.approvals.answer(id, { approve: false }),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    expect(await outcome).toMatchObject({ value: answers[0]?.status === "fulfilled" ? "sent to bob" : "denied" });
  });

  test("refuses a second answer to the same question [P6]", async () => {
    const { runtime, sent } = await openMail();
    const next = followQuestions(runtime);
    const first = runtime.run(`await device.MailSkill.send("bob")`);
    const { id } = await next();
    await runtime.approvals.answer(id, { approve: true });
    await first;
    const second = runtime.run(`await device.MailSkill.send("bob")`);
    const again = await next();
    expect(again.id).not.toBe(id);
    await expect(runtime.approvals.answer(id, { approve: true })).rejects.toMatchObject({ code: "APPROVAL_CLOSED" });
    expect(sent).toEqual(["bob"]);
    await runtime.approvals.answer(again.id, { approve: false });
    await second;
    expect(sent).toEqual(["bob"]);
  });

  test("is not answered by its own caller if the method requires an administrator [P6]", async () => {
    const { runtime } = await openMail();
    const next = followQuestions(runtime);
    const outcome = runtime.run(`await device.MailSkill.wipe("bob")`, { caller: ADA });
    const { id, approver } = await next();
    expect(approver).toBe("admin");
    const answerBy = (caller: Caller): Promise<unknown> => runtime.approvals.answer(id, { approve: true }, caller);
    await expect(answerBy({ ...ADA, permissions: ["call:*", "admin:AnswerApprovals"] })).rejects.toMatchObject({
      code: "APPROVAL_FORBIDDEN",
      message: `Cannot answer an approval request for another person: request ${id} needs an administrator, and its caller "ada" cannot answer it (APPROVAL_FORBIDDEN)`,
    });
    await expect(answerBy({ id: "bob", permissions: ["call:*", "admin:Read"] })).rejects.toMatchObject({
      code: "APPROVAL_FORBIDDEN",
      message: expect.stringContaining('"bob" has no right admin:AnswerApprovals'),
    });
    await expect(answerBy({ id: "eve", permissions: ["call:*"] })).rejects.toMatchObject({ code: "APPROVAL_UNKNOWN" });
    await answerBy({ id: "carol", permissions: ["call:*", "admin:AnswerApprovals"] });
    expect(await outcome).toMatchObject({ value: "sent to bob" });
  });

  test("names requests that can be answered when the id is unknown [P6]", async () => {
    const { runtime } = await openMail();
    await expect(runtime.approvals.answer("nope", { approve: true })).rejects.toMatchObject({
      code: "APPROVAL_UNKNOWN",
    });
  });
});

describe("a yes for always", () => {
  const openWithPolicy = async (): ReturnType<typeof openMail> => {
    const folder = createFolder();
    const policyFile = join(folder, "policies", "tools.yaml");
    mkdirSync(join(folder, "policies"));
    writeFileSync(policyFile, "");
    return openMail({ cwd: folder, policy: policyFile });
  };
  const admin = (id: string): Caller => ({ id, permissions: ["call:*", "admin:AnswerApprovals"] });

  test.each<[who: string, answerer: Caller, caller: Caller, scope: ApprovalScope]>([
    ["the owner", OWNER, ADA, "always"],
    ["an administrator", admin("carol"), ADA, "always"],
    ["an administrator who made the call", admin("ada"), admin("ada"), "once"],
  ])("of %s counts accordingly, and says so [P6]", async (_, answerer, caller, scope) => {
    const { runtime } = await openWithPolicy();
    const next = followQuestions(runtime);
    const outcome = runtime.run(`await device.MailSkill.send("bob")`, { caller });
    const { id } = await next();
    const answer = await runtime.approvals.answer(id, { approve: true, scope: "always" }, answerer);
    expect(answer).toMatchObject({ state: "approved", scope });
    expect(answer.note).toEqual(
      scope === "once"
        ? 'The yes of "ada" counts once: only the owner, or an administrator who did not make the call, approves for always'
        : undefined,
    );
    expect(await outcome).toMatchObject({ kind: "completed" });
  });

  test("of the person at the program of a caller counts once [P6]", async () => {
    const { runtime } = await openWithPolicy();
    const options: RunOptions = { caller: ADA, approve: () => "always" };
    expect(await runtime.run(`await device.MailSkill.send("bob")`, options)).toMatchObject({ kind: "completed" });
    expect(await runtime.approvals.list()).toMatchObject([{ state: "approved", scope: "once", answeredBy: "ada" }]);
  });
});

describe("a yes", () => {
  test.each<[ApprovalScope, readonly string[]]>([
    ["once", ["send bob", "send bob", "send eve"]],
    ["run", ["send bob"]],
    ["plan", ["send bob", "send eve"]],
  ])("for the scope %s covers those calls of the run, and no others [P6]", async (scope, expected) => {
    const { runtime, sent } = await openMail();
    const asked: string[] = [];
    runtime.on("approval", ({ id, arguments: input, path }) => {
      asked.push(`${path.split(".")[1]} ${(input as { to: string }).to}`);
      void runtime.approvals.answer(id, { approve: true, scope: asked.length === 1 ? scope : "once" });
    });
    const source = `
      await device.MailSkill.send("bob");
      await device.MailSkill.send("bob");
      await device.MailSkill.send(["eve"].join(""));`;
    expect(await runtime.run(source)).toMatchObject({ kind: "completed" });
    expect(asked).toEqual(expected);
    expect(sent).toEqual(["bob", "bob", "eve"]);
  });

  test("for a run does not reach the next run [P6]", async () => {
    const { runtime } = await openMail();
    const next = followQuestions(runtime);
    for (const scope of ["run", "once"] as const) {
      const outcome = runtime.run(`await device.MailSkill.send("bob")`);
      await runtime.approvals.answer((await next()).id, { approve: true, scope });
      expect(await outcome).toMatchObject({ kind: "completed" });
    }
  });

  test("for a plan by a user does not cover a method that requires an administrator [P6]", async () => {
    const asked: string[] = [];
    const { runtime } = await openMail({
      approve: ({ path }) => {
        asked.push(path);
        return path === "MailSkill.send" && "plan";
      },
    });
    const outcome = await runtime.run(`await device.MailSkill.send("bob"); await device.MailSkill.wipe("eve")`);
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "APPROVAL_MISSING" } });
    expect(asked).toEqual(["MailSkill.send", "MailSkill.wipe"]);
  });

  test("counts for exactly the arguments that were shown: altered ones need another [P6]", async () => {
    const { runtime, sent } = await openMail({ approvals: { wait: false } });
    const send = (to: string): Promise<unknown> => runtime.call("MailSkill.send", { to });
    const next = followQuestions(runtime);
    await expect(send("bob")).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    const { id, isWaiting } = await next();
    expect(isWaiting).toBe(false);
    await expect(send("bob")).rejects.toThrow(`request ${id} waits for an answer`);
    await runtime.approvals.answer(id, { approve: true });
    await expect(send("eve")).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    const other = runtime.call("MailSkill.send", { to: "bob" }, { caller: ADA });
    await expect(other).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    expect(await send("bob")).toBe("sent to bob");
    await expect(send("bob")).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    expect(sent).toEqual(["bob"]);
  });

  test("of the option approve counts as before, and its record can be read [P6]", async () => {
    const { runtime } = await openMail({ approve: ({ input }) => input["to"] === "bob" });
    expect(await runtime.call("MailSkill.send", { to: "bob" })).toBe("sent to bob");
    await expect(runtime.call("MailSkill.send", { to: "eve" })).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    expect((await runtime.approvals.list()).map(({ state }) => state).toSorted()).toEqual(["approved", "denied"]);
  });

  test("is listed without what it asks, by its state [P6]", async () => {
    const { runtime } = await openMail({ approve: ({ input }) => input["to"] === "bob" });
    await runtime.call("MailSkill.send", { to: "bob" });
    await expect(runtime.call("MailSkill.send", { to: "eve" })).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    const [denied, ...others] = await runtime.approvals.list("denied");
    expect(others).toEqual([]);
    expect(denied).toMatchObject({ path: "MailSkill.send", caller: "owner", state: "denied" });
    const whole = await runtime.approvals.get(denied?.id ?? "");
    expect(whole).toMatchObject({ ...denied, arguments: { to: "eve" } });
    expect(JSON.stringify(denied)).not.toContain("eve");
    expect(await runtime.approvals.list(undefined, ADA)).toEqual([]);
  });

  test("is not left beside 1,000 others, also by calls at the same moment, and once for the same call [P6]", async () => {
    const { runtime } = await openMail({ approvals: { wait: false } });
    const call = (to: string): Promise<unknown> =>
      runtime.call("MailSkill.send", { to }).catch(({ message }) => message);
    const [first, second] = await Promise.all([call("bob"), call("bob")]);
    expect(first).toBe(second);
    const { approvals } = await runtime.database();
    const [{ id } = { id: "" }] = await runtime.approvals.list("pending");
    const row = await approvals.get(id);
    for (let at = 1; at < 997; at++) await approvals.add({ ...row!, id: `other${at}`, digest: `other${at}` });
    const messages = await Promise.all(["a", "b", "c", "d", "e", "bob"].map(call));
    expect(messages.filter((message) => /request \w+ waits for an answer/.test(String(message)))).toHaveLength(4);
    expect(messages.filter((message) => String(message).includes("; 1000 others wait for an answer"))).toHaveLength(2);
    expect(messages.at(-1)).toBe(first);
    expect(await approvals.countPending()).toBe(1_000);
  });

  test("is left beside 1,000 others of another caller, also of calls that wait [P6]", async () => {
    const { runtime } = await openMail({ approvals: { wait: false } });
    const call = (to: string, caller?: Caller): Promise<unknown> =>
      runtime.call("MailSkill.send", { to }, caller && { caller }).catch(({ message }) => message);
    await call("bob", ADA);
    const { approvals } = await runtime.database();
    const [{ id } = { id: "" }] = await runtime.approvals.list("pending");
    const row = await approvals.get(id);
    for (let at = 1; at < 1_000; at++)
      await approvals.add({ ...row!, id: `other${at}`, digest: `other${at}`, waiter: at % 2 === 0 ? "run:1" : null });
    expect(await call("eve", ADA)).toContain("; 1000 others wait for an answer");
    expect(await call("eve")).toMatch(/request \w+ waits for an answer/);
  });

  test("is asked once for calls of several processes, and used once [P6]", async () => {
    const store = createFolder();
    const open = (): ReturnType<typeof openMail> => openMail({ store, approvals: { wait: false } });
    const processes = await Promise.all([open(), open(), open()]);
    const callAll = (to: string): Promise<readonly unknown[]> =>
      Promise.all(
        processes.map(({ runtime }) => runtime.call("MailSkill.send", { to }).catch(({ message }) => message)),
      );
    for (const to of ["a", "b", "c", "d"]) expect(new Set(await callAll(to)).size).toBe(1);
    const [{ runtime }] = processes;
    const pending = await runtime.approvals.list("pending");
    expect(pending).toHaveLength(4);
    await runtime.approvals.answer(pending[0]?.id ?? "", { approve: true });
    await callAll("a");
    expect(processes.flatMap(({ sent }) => sent)).toEqual(["a"]);
    expect(await runtime.approvals.list("pending")).toHaveLength(4);
  });

  test("is listed with the 1,000 that were closed last [P6]", async () => {
    const { runtime } = await openMail({ approve: () => false });
    await expect(runtime.call("MailSkill.send", { to: "eve" })).rejects.toMatchObject({ code: "APPROVAL_MISSING" });
    const { approvals } = await runtime.database();
    const [first] = await runtime.approvals.list();
    const row = await approvals.get(first?.id ?? "");
    const closedAt = first?.closedAt ?? 0;
    for (let at = 0; at < 1_000; at++) await approvals.add({ ...row!, id: `later${at}`, expires: closedAt });
    await approvals.expire(closedAt + 1);
    const ids = (await runtime.approvals.list()).map(({ id }) => id);
    expect(ids).toHaveLength(1_000);
    expect(ids).not.toContain(first?.id);
    expect(await runtime.approvals.list("denied")).toEqual([]);
    expect(await runtime.approvals.get(first?.id ?? "")).toMatchObject({ state: "denied" });
  });

  test("answers 200 waiting questions, each with its own answer [P6]", { tags: "rest" }, async () => {
    const { runtime, sent } = await openMail({ store: createFolder() });
    const next = followQuestions(runtime);
    const names = Array.from({ length: 200 }, (_, at) => `user${at}`);
    const calls = Promise.allSettled(names.map((to) => runtime.call("MailSkill.send", { to })));
    const questions = await Promise.all(names.map(() => next()));
    expect(await runtime.approvals.list("pending")).toHaveLength(200);
    const isEven = ({ arguments: input }: { readonly arguments: unknown }): boolean =>
      Number((input as { to: string }).to.slice(4)) % 2 === 0;
    await Promise.all(questions.map((each) => runtime.approvals.answer(each.id, { approve: isEven(each) })));
    const ended = await calls;
    expect(ended.map(({ status }) => status === "fulfilled")).toEqual(names.map((_, at) => at % 2 === 0));
    expect(sent).toHaveLength(100);
  });
});
