import type { AgentEvent } from "../../../agent/index.ts";
import { errorToExit, type Exit } from "../exit-codes.ts";

/** Returns the exit of a command that ends with these events. */
export function getExit(events: readonly AgentEvent[]): Exit {
  const done = events.at(-1);
  if (done?.type !== "done") return "failed";
  switch (done.reason) {
    case "answer":
      return "ok";
    case "cancelled":
      return "interrupted";
    case "waiting":
      return "approval";
    case "budget":
      return done.budget === "seconds" ? "timeLimit" : "failed";
    case "error": {
      const failure = events.findLast((event) => event.type === "error");
      return failure === undefined ? "failed" : errorToExit(failure.error.code);
    }
  }
}
