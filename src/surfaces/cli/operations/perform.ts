import type { CommandResult } from "../command.ts";
import { type CommandOperation, type OperationContext, performCall, performRun } from "./operation.ts";
import { performAutomation } from "./run-automation.ts";

/** Performs an operation with a runtime. */
export function perform(operation: CommandOperation, context: OperationContext): Promise<CommandResult> {
  switch (operation.kind) {
    case "run":
      return performRun(operation, context);
    case "call":
      return performCall(operation, context);
    case "automation":
      return performAutomation(operation, context);
  }
}
