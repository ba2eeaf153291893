import { expect, test } from "vitest";

import { createAnswerWaiter, mayWaitBeside } from "../../src/approvals/waiting.ts";
import { openMail } from "./mail.ts";

test("knows the callers of the questions that wait, until they end", async () => {
  const { runtime } = await openMail();
  const waiter = createAnswerWaiter(await runtime.database(), () => {});
  const expires = Date.now() + 60_000;
  const waits = [
    waiter.wait({ id: "a1", caller: "ada", expires }),
    waiter.wait({ id: "a2", caller: "ada", expires }),
    waiter.wait({ id: "b1", caller: "bob", expires }),
  ];
  expect([...waiter.callers.values()]).toEqual(["ada", "ada", "bob"]);
  waiter.stop("a1", new Error("ended"));
  expect([...waiter.callers]).toEqual([
    ["a2", "ada"],
    ["b1", "bob"],
  ]);
  for (const id of waiter.callers.keys()) waiter.stop(id, new Error("ended"));
  expect((await Promise.allSettled(waits)).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
});

test("reads what was closed lately after a notice, and finds an answer that is committed late [P6]", async () => {
  const { runtime } = await openMail({ approvals: { wait: false } });
  await runtime.call("MailSkill.send", { to: "bob" }).catch(() => {});
  const database = await runtime.database();
  const { approvals } = database;
  const [{ id } = { id: "" }] = await runtime.approvals.list("pending");
  const row = await approvals.get(id);
  const now = await approvals.now();
  await approvals.add({ ...row!, id: "late", digest: "late", created: now - 120_000 });
  const looks: number[] = [];
  const observed = {
    ...approvals,
    listClosedAfter(since: number) {
      looks.push(since);
      return approvals.listClosedAfter(since);
    },
  };
  const waiter = createAnswerWaiter({ ...database, approvals: observed }, () => {});
  const answered = waiter.wait({ id: "late", caller: "owner", expires: now + 60_000 });
  let notices = 0;
  const readsLately = async (): Promise<boolean> => {
    await approvals.add({ ...row!, id: `other${++notices}`, digest: `other${notices}` });
    return looks.some((since) => since > now - 300_000);
  };
  await expect.poll(readsLately).toBe(true);
  expect(looks[0]).toBeLessThan(now - 300_000);
  const time = now - 60_000;
  await approvals.answer("late", { state: "approved", scope: "once", by: "owner", as: "admin", time });
  expect(await answered).toMatchObject({ id: "late", state: "approved", closedAt: time });
});

test("lets a caller have half of the questions that wait, and all callers together 20,000 [P6]", () => {
  const waiting = (ada: number, bob: number): readonly string[] => [
    ...Array<string>(ada).fill("ada"),
    ...Array<string>(bob).fill("bob"),
  ];
  expect(mayWaitBeside(waiting(9_999, 0), "ada")).toBe(true);
  expect(mayWaitBeside(waiting(10_000, 0), "ada")).toBe(false);
  expect(mayWaitBeside(waiting(10_000, 9_999), "bob")).toBe(true);
  expect(mayWaitBeside(waiting(10_000, 10_000), "eve")).toBe(false);
});
