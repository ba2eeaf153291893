import { randomUUID } from "node:crypto";
import {
  inputRequired,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";

import type { Client, ClientRequest } from "../../../model/client-requests.ts";
import { findSurplus } from "../../../shared/lru.ts";
import type { CreateTaskResult } from "../tasks/extension.ts";
import type { LiveTasks } from "../tasks/live-tasks.ts";
import { cannotAsk, canAnswer, parseApps } from "./client-answers.ts";
import { createLostReason } from "./lost-client.ts";
import {
  MultiTurnRequest,
  type Questions,
  type RequestResult,
  type RequestTurn,
  type WorkContext,
} from "./multi-turn-request.ts";

/** Milliseconds that work waits for an answer of the user before it is cancelled. */
const SUSPENDED_TTL_MS = 10 * 60_000;

/** Maximum number of suspended requests; beyond it, the oldest of the caller that has the most is cancelled. */
const MAX_SUSPENDED = 1_000;

/**
 * Runs work that may ask its client questions. The 2026 protocol has no requests to clients: a request is answered with
 * the questions, and the client sends it again with the answers. The work is suspended in between, so nothing runs twice.
 * Work that lasts becomes a task, if its client takes tasks.
 */
export interface MultiTurnRequests {
  run<Result extends RequestResult>(
    request: RequestTurn,
    work: (workContext: WorkContext) => Promise<Result>,
  ): Promise<Result | InputRequiredResult | CreateTaskResult>;
  /** Cancels all suspended work. */
  close(): void;
}

export function createMultiTurnRequests(tasks: LiveTasks): MultiTurnRequests {
  const parked = new Map<string, MultiTurnRequest>();

  function park(conversation: MultiTurnRequest, questions: Questions): InputRequiredResult {
    const requestState = randomUUID();
    parked.set(requestState, conversation);
    const surplus = parked.size > MAX_SUSPENDED ? findSurplus(parked, ([, { caller }]) => caller) : undefined;
    if (surplus !== undefined) giveUp(surplus[0]);
    conversation.waitAtMost(SUSPENDED_TTL_MS, () => giveUp(requestState));
    return inputRequired({ inputRequests: questions, requestState });
  }

  function giveUp(requestState: string): void {
    parked.get(requestState)?.abort(createLostReason("the client did not answer"));
    parked.delete(requestState);
  }

  function unpark(requestState: string, { caller, subject }: RequestTurn): MultiTurnRequest {
    const conversation = parked.get(requestState);
    if (conversation?.caller !== caller || conversation.subject !== subject) {
      const reason = { reason: "invalid_request_state" };
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", reason);
    }
    parked.delete(requestState);
    return conversation;
  }

  return {
    async run(request, work) {
      const state = request.requestState;
      const conversation = state === undefined ? new MultiTurnRequest(request, work) : unpark(state, request);
      const end = await conversation.take(request);
      switch (end.kind) {
        case "finished":
          // The result has the type of this work: `subject` ties a state to its method and name.
          return end.result as Awaited<ReturnType<typeof work>>;
        case "asks":
          return park(conversation, end.questions);
        case "lasts":
          return tasks.add(end.id, conversation);
      }
    },
    close() {
      for (const state of parked.keys()) giveUp(state);
    },
  };
}

/** Asks older clients directly, on the stream of the request. `declared` are the capabilities of the client. */
export function askedDirectly(
  declared: unknown,
  send: (request: ClientRequest, params: Record<string, unknown>, timeoutMs: number) => Promise<unknown>,
): Client {
  const can = canAnswer(declared);
  return {
    era: "legacy",
    ...parseApps(declared),
    can,
    ask: async (request, params) => {
      if (!can(request, params)) throw cannotAsk(request);
      return send(request, { ...params }, SUSPENDED_TTL_MS);
    },
  };
}
