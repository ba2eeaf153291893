import type { StopReason } from "../contract.ts";
import type { SliceEnd } from "../shared/protocol.ts";

/** Names the limit or the failure that stopped a slice. */
export function toStopReason(stop: Extract<SliceEnd, { kind: "stop" }>["stop"], leftWallMs: number): StopReason {
  switch (stop) {
    case "time":
      return leftWallMs <= 0 ? "WALL_LIMIT" : "CPU_LIMIT";
    case "memory":
      return "MEMORY_LIMIT";
    case "stack":
      return "STACK_LIMIT";
    case "calls":
      return "CALL_LIMIT";
    case "callsInFlight":
      return "CALLS_IN_FLIGHT_LIMIT";
    case "argument":
      return "ARGUMENT_LIMIT";
    case "result":
      return "RESULT_LIMIT";
    case "nesting":
      return "NESTING_LIMIT";
    case "trap":
    case "protocol":
      return "ENGINE_TRAP";
  }
}
