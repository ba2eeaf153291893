/** Entry of the thread: loads the compiler, then answers one order after the other. */
import { type MessagePort, parentPort } from "node:worker_threads";

import type { CheckRequest, CheckReport, Diagnostic, FromThread } from "./protocol.ts";

const port = parentPort as MessagePort;
void serve();

/** No `await` at the top: V8 aborts the process where a thread is ended while such a module is evaluated (Node 20). */
async function serve(): Promise<void> {
  const { checkTypes, warmUp } = await import("./check-types.ts");
  warmUp();
  port.on("message", (order: CheckRequest) => post(answer(order, checkTypes)));
  post({ kind: "ready" });
}

type CheckTypes = (order: CheckRequest) => readonly Diagnostic[];

function answer(order: CheckRequest, checkTypes: CheckTypes): CheckReport {
  try {
    return { kind: "checked", diagnostics: checkTypes(order) };
  } catch {
    return { kind: "failed" }; // a program that is nested too deeply, or a fault in the compiler
  }
}

function post(message: FromThread): void {
  port.postMessage(message);
}
