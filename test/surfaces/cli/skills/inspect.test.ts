// @module-tag rest

import { once } from "node:events";
import { createInterface } from "node:readline";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { ended, project, skillgate, start } from "../command.ts";

/** It takes longer than its timeout. */
const SKILL = `/** Add.\n * @timeout 100ms\n */
export async function add(a: number, b: number): Promise<number> {
  debugger;
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  return a + b;
}
`;

interface ProtocolMessage {
  readonly method?: string;
  readonly params?: {
    readonly callFrames?: readonly { readonly callFrameId: string; readonly functionName: string }[];
  };
}

/** A debugger that is attached to a process. */
async function attach(url: string): Promise<{
  readonly send: (method: string, params?: object) => void;
  readonly paused: Promise<ProtocolMessage>;
}> {
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  await once(socket, "open");
  let last = 0;
  const send = (method: string, params: object = {}): void =>
    socket.send(JSON.stringify({ id: ++last, method, params }));
  const paused = new Promise<ProtocolMessage>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ProtocolMessage;
      if (message.method === "Debugger.paused") resolve(message);
    });
  });
  return { send, paused };
}

test("waits for a debugger, which stops in a skill without time limits and changes its result [L11]", async () => {
  const cwd = project({ "skills/sum.ts": SKILL });
  expect((await skillgate(["call", "SumSkill.add", "a=1", "b=2"], { cwd })).exit).toBe(124);
  const child = start(["call", "SumSkill.add", "a=1", "b=2", "--inspect-skills", "--json"], { cwd });
  const outcome = ended(child);
  const errors = createInterface({ input: child.stderr! });
  const [line] = (await once(errors, "line")) as [string];
  expect(line).toMatch(/^The skills wait for a debugger at ws:\/\/127\.0\.0\.1:\d+\/[\w-]+$/);
  const { send, paused } = await attach(line.replace(/.* /, ""));
  send("Debugger.enable");
  send("Runtime.runIfWaitingForDebugger");
  const [frame] = (await paused).params?.callFrames ?? [];
  expect(frame?.functionName).toBe("add");
  send("Debugger.evaluateOnCallFrame", { callFrameId: frame?.callFrameId, expression: "a = 40" });
  send("Debugger.resume");
  expect(JSON.parse((await outcome).stdout)).toMatchObject({ value: 42 });
});
