import { expect, test } from "vitest";

import { createFolder, followQuestions, openMail } from "../approvals/mail.ts";

test("requests of one process to continue a run at the same moment get its one outcome [R2, R9]", async () => {
  const store = createFolder();
  const { runtime: first } = await openMail({ store, approvals: { holdSeconds: 0.1 } });
  const next = followQuestions(first);
  const { runId } = await first.run(`[await device.MailSkill.send("bob"), 1]`);
  const { id } = await next();
  await first.close();
  const { runtime, sent } = await openMail({ store });
  await runtime.approvals.answer(id, { approve: true });
  const outcomes = await Promise.all([1, 2, 3].map(() => runtime.runs.resume(runId)));
  expect(outcomes.map(({ kind }) => kind)).toEqual(["completed", "completed", "completed"]);
  expect(sent).toEqual(["bob"]);
});
