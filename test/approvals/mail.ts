import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { onTestFinished } from "vitest";

import { type Approval, createRuntime, defineSkill, type Runtime, type RuntimeOptions } from "../../src/index.ts";

const TO = { type: "object", properties: { to: { type: "string" } }, required: ["to"] } as const;

/** The addresses to which mail was sent. */
export interface Sent {
  readonly sent: string[];
}

/** A runtime with a skill whose methods need approvals; calls wait for them. */
export async function openMail(options: RuntimeOptions = {}): Promise<Sent & { readonly runtime: Runtime }> {
  const sent: string[] = [];
  const send = ({ to }: { readonly to: string }): string => {
    sent.push(to);
    return `sent to ${to}`;
  };
  const MailSkill = defineSkill({
    name: "MailSkill",
    description: "Sends mail",
    methods: {
      send: { description: "Send a mail", approval: "user", destructive: true, input: TO, run: send },
      wipe: { description: "Delete a mailbox", approval: "admin", input: TO, run: send },
      count: { description: "Count the mails", run: () => sent.length },
    },
  });
  const approvals = { wait: true, ...options.approvals };
  const runtime = await createRuntime({
    skillsDir: false,
    skills: [MailSkill],
    workers: 1,
    typecheck: false,
    ...options,
    approvals,
  });
  onTestFinished(() => runtime.close());
  return { runtime, sent };
}

/** Returns the questions of a runtime in their order; each call gives the next one. */
export function followQuestions(runtime: Runtime): () => Promise<Approval> {
  const questions: Approval[] = [];
  const waiting: ((approval: Approval) => void)[] = [];
  runtime.on("approval", (approval) => {
    const next = waiting.shift();
    if (next === undefined) questions.push(approval);
    else next(approval);
  });
  return () => {
    const question = questions.shift();
    return question === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(question);
  };
}

/** Creates a folder that is removed after the test. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-approvals-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
