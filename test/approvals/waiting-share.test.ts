import { expect, test } from "vitest";

import { createAnswerWaiter } from "../../src/approvals/waiting.ts";
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
