import { findPackageFile } from "../../sandbox/package-files.ts";
import { OrderThread, type ThreadEvents } from "../shared/threads/order-thread.ts";
import type { CheckReport, CheckRequest } from "./protocol.ts";

/** How long the compiler may take to load. */
const START_MS = 60_000;

/** Threads start from compiled files, also when this file itself runs from its source. */
function findEntry(): URL {
  return findPackageFile("src/typecheck/worker.js", () => new URL("./worker.js", import.meta.url));
}

export type CheckThread = OrderThread<CheckRequest, CheckReport>;

/** Starts a thread with the compiler. */
export function startThread(events: ThreadEvents): CheckThread {
  const limits = { stackSizeMb: 8, maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 };
  return new OrderThread({ entry: findEntry(), name: "skillgate-typecheck", startMs: START_MS, limits }, events);
}
