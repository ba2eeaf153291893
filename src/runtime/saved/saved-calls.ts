import { randomUUID } from "node:crypto";

import { createError, type ErrorCode, ERRORS } from "../../errors.ts";
import type { Outcome } from "../../model/outcome.ts";
import type { SavedOutcome, ProgramExecution } from "../../providers/skills/index.ts";
import type { Call, Route } from "../../router/index.ts";

/** A run of the program of a saved skill. */
export interface SavedExecution extends ProgramExecution {
  readonly runId: string;
  /** How deep the program is nested, from 1. */
  readonly depth: number;
  /** The call of the saved skill. */
  readonly call: Call | undefined;
}

export interface SavedExecutor {
  readonly execute: (execution: SavedExecution) => Promise<Outcome>;
  /** True if the program is refused even for a caller with all permissions, for its own mistakes. */
  readonly isRefused: (source: string) => Promise<boolean>;
}

/** Saved skills that call each other may be nested so deeply. */
const MAX_DEPTH = 3;

/** Runs the programs of saved skills, each on behalf of the call that asks for it. */
export class SavedCalls {
  /** The calls of saved skills under way, by their ids. */
  readonly #open = new Map<string, Call>();
  /** How deep the program of a run is nested, by the id of the run. */
  readonly #depths = new Map<string, number>();
  #executor: SavedExecutor | undefined;

  /** Must be called before the first call. */
  setExecutor(executor: SavedExecutor): void {
    this.#executor = executor;
  }

  /** Returns a route that knows the calls of saved skills while they last. */
  follow(route: Route): Route {
    return async (call) => {
      if (call.skill.provided.saved === undefined) return route(call);
      const id = `${call.runId}/${call.id}`;
      this.#open.set(id, call);
      try {
        return await route(call);
      } finally {
        this.#open.delete(id);
      }
    };
  }

  /** Runs a program. Throws `CALL_FAILED` if saved skills call each other too deeply. */
  readonly run = async (run: ProgramExecution): Promise<SavedOutcome> => {
    const executor = this.#executor;
    if (executor === undefined) throw new TypeError("Saved skills have no executor");
    const { path, source, context } = run;
    const depth = (this.#depths.get(context.runId) ?? 0) + 1;
    if (depth > MAX_DEPTH) {
      const why = `${path} is called by saved skills that call each other, and these may be nested ${MAX_DEPTH} deep`;
      throw createError("CALL_FAILED", why);
    }
    const runId = randomUUID();
    this.#depths.set(runId, depth);
    try {
      const outcome = await executor.execute({ ...run, runId, depth, call: this.#open.get(context.callId) });
      return { outcome, isOwnFailure: await isOwnFailure(outcome, () => executor.isRefused(source)) };
    } finally {
      this.#depths.delete(runId);
    }
  };
}

/** A failure for which the caller, a server or the time is the reason says nothing about the program. */
async function isOwnFailure(outcome: Outcome, isRefused: () => Promise<boolean>): Promise<boolean> {
  switch (outcome.kind) {
    case "completed":
    case "waiting":
      return false;
    case "refused":
      return isRefused();
    case "failed":
      return !isForeign(outcome.error.code);
  }
}

const FOREIGN_CODES: ReadonlySet<ErrorCode> = new Set(["WALL_LIMIT", "CANCELLED", "ENGINE_TRAP"]);

function isForeign(code: ErrorCode): boolean {
  return FOREIGN_CODES.has(code) || (ERRORS[code].stage === "call" && code !== "CALL_FAILED");
}
