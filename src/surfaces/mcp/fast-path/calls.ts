import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type RequestId,
  type Result,
  SERVER_INFO_META_KEY,
  type Server,
} from "@modelcontextprotocol/server";

import { type Cancellable, Cancellation } from "../../../../sandbox/index.ts";
import { isRecord } from "../../../model/json.ts";
import type { RequestValues } from "../../../model/requests/request-values.ts";
import { canAnswer, parseApps } from "../sessions/client-answers.ts";
import { addMeta } from "../sessions/request-meta.ts";
import { askedDirectly } from "../sessions/multi-turn-requests.ts";
import { NO_TASKS } from "../sessions/multi-turn-request.ts";
import { declaresTasks } from "../tasks/extension.ts";
import type { ConnectedClient, GatewayContext } from "../sessions/client-session.ts";
import { IDENTITY } from "../identity.ts";
import { type LogLevelState, isLevelEnabled, createLevelFilter, type NotificationSink } from "../notifications.ts";
import { type Cause, cancelledAnswer, toCancelReason } from "../sessions/open-requests.ts";
import { type RegularCall, regularCall } from "./regular-call.ts";
import { toWireCode } from "../upstream-errors.ts";
import { errorAnswer } from "../rpc-error.ts";
import { traceMcpRequest } from "../trace-requests.ts";
import { callOffered } from "../tools/tool-calls.ts";

/** Connection of an older client: the SDK server, which sends requests to it, and its log level. */
export interface LegacyConnection {
  readonly server: Server;
  readonly logLevel: LogLevelState;
}

/** Receives the notifications of a call, then its answer once. */
export interface Listener {
  readonly say: (message: JSONRPCMessage) => void;
  readonly answer: (message: JSONRPCMessage) => void;
}

/** Handle of a started call. */
export interface StartedCall {
  /** Ends the call, because the client has gone; does nothing if it is already answered. */
  lose(): void;
}

interface OpenCall {
  readonly listener: Listener;
  readonly abort: Cancellation;
}

/**
 * Answers tool calls without the SDK, with the same answers. `connection` is absent for clients of the 2026 protocol.
 */
export class FastPathCalls {
  readonly #shared: GatewayContext;
  readonly #mcpClient: ConnectedClient;
  readonly #connection: LegacyConnection | undefined;
  readonly #under = new Map<RequestId, OpenCall>();

  constructor(shared: GatewayContext, mcpClient: ConnectedClient, connection?: LegacyConnection) {
    this.#shared = shared;
    this.#mcpClient = mcpClient;
    this.#connection = connection;
  }

  /** Parses a message; `undefined` if it is not a call that can be answered here. */
  read(message: unknown): RegularCall | undefined {
    const call = regularCall(message);
    if (call?.era !== this.#mcpClient.era) return undefined;
    const isOpen = this.#connection === undefined || this.#connection.server.getClientVersion() !== undefined;
    return isOpen ? call : undefined;
  }

  /** Starts a call. A client may reuse an id after the answer, so the handle compares the call and not the id alone. */
  start(call: RegularCall, listener: Listener, requestValues = this.#mcpClient.requestValues): StartedCall {
    const { id } = call;
    const begun: OpenCall = { listener, abort: new Cancellation() };
    this.#under.set(id, begun);
    const say = (message: JSONRPCMessage): void => {
      if (this.#under.get(id) === begun) listener.say(message);
    };
    const values = addMeta(requestValues, call.meta);
    const options = { mcpClient: this.#mcpClient, requestValues: values, say, cancellable: begun.abort };
    const request = { method: "tools/call", id, target: call.name, meta: call.meta };
    void answer(call, () =>
      traceMcpRequest<ToolAnswer>(request, this.#mcpClient, () =>
        this.#connection === undefined
          ? answerModern(this.#shared, call, options)
          : answerLegacy(this.#shared, call, options, this.#connection),
      ),
    )
      .then((message) => this.#end(id, begun, message))
      .catch(() => begun.abort.cancel(toCancelReason("the connection is gone"))); // the answer could not be sent: the connection is gone
    return { lose: () => this.#stop(id, begun, "the connection is gone") };
  }

  /** Cancels and answers the call that currently has this id. */
  cancel(id: RequestId): void {
    const begun = this.#under.get(id);
    if (begun !== undefined) this.#stop(id, begun);
  }

  isUnderWay(id: RequestId): boolean {
    return this.#under.has(id);
  }

  /** Returns the listener of a call in progress. */
  listenerTo(id: RequestId): Listener | undefined {
    return this.#under.get(id)?.listener;
  }

  close(cause: Cause): void {
    for (const [id, begun] of this.#under) this.#stop(id, begun, cause);
  }

  #stop(id: RequestId, begun: OpenCall, cause?: Cause): void {
    this.#end(id, begun, cancelledAnswer(id, cause));
    begun.abort.cancel(cause && toCancelReason(cause));
  }

  #end(id: RequestId, begun: OpenCall, message: JSONRPCMessage): void {
    if (this.#under.get(id) !== begun) return;
    this.#under.delete(id);
    begun.listener.answer(message);
  }
}

interface AnswerOptions {
  readonly mcpClient: ConnectedClient;
  readonly requestValues: RequestValues | undefined;
  readonly say: Listener["say"];
  readonly cancellable: Cancellable;
}

type ToolAnswer = Awaited<ReturnType<typeof answerModern | typeof answerLegacy>>;

/** Runs a call and creates its response; never rejects. */
async function answer({ id, era }: RegularCall, call: () => Promise<ToolAnswer>): Promise<JSONRPCMessage> {
  try {
    const result = await call();
    return { jsonrpc: "2.0", id, result: era === "modern" ? stamped(result) : { ...result } };
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) return errorAnswer("InternalError", "Internal server error", id);
    const { message, data } = thrown;
    return {
      jsonrpc: "2.0",
      id,
      error: { code: toWireCode(thrown.code), message, ...(data !== undefined && { data }) },
    };
  }
}

/** Answers a call of the 2026 protocol: the request carries its context, and questions are returned as its result. */
function answerModern(
  shared: GatewayContext,
  { name, args, meta, progressToken }: RegularCall,
  options: AnswerOptions,
) {
  const { mcpClient, requestValues, cancellable } = options;
  const requestTurn = {
    requestValues,
    notifications: createSink(options, createLevelFilter(meta[LOG_LEVEL_META_KEY]), progressToken),
    cancellable,
    can: canAnswer(meta[CLIENT_CAPABILITIES_META_KEY]),
    ...parseApps(meta[CLIENT_CAPABILITIES_META_KEY]),
    takesTasks: declaresTasks(meta[CLIENT_CAPABILITIES_META_KEY]) && shared.tasks.hasPlace,
    life: mcpClient.life,
    caller: mcpClient.caller.id,
    subject: JSON.stringify(["tools/call", name]),
  };
  return shared.conversations.run(requestTurn, (workContext) =>
    callOffered(shared, mcpClient, { name, args }, workContext),
  );
}

function answerLegacy(
  shared: GatewayContext,
  call: RegularCall,
  options: AnswerOptions,
  { server, logLevel }: LegacyConnection,
) {
  const { id, name, args, progressToken } = call;
  const { mcpClient, requestValues, cancellable } = options;
  const notifications = createSink(options, (level) => isLevelEnabled(logLevel.level ?? "debug", level), progressToken);
  const client = askedDirectly(server.getClientCapabilities(), (method, params, timeout) =>
    server.request({ method, params }, { signal: cancellable.signal, timeout, relatedRequestId: id }),
  );
  return callOffered(
    shared,
    mcpClient,
    { name, args },
    { client, requestValues, cancellable, notifications: () => notifications, era: "legacy", ...NO_TASKS },
  );
}

function createSink(
  { say }: AnswerOptions,
  isEnabled: NotificationSink["isEnabled"],
  progressToken: string | number | undefined,
): NotificationSink {
  return {
    ...(progressToken !== undefined && { progressToken }),
    isEnabled,
    notify: async (method, params) => say({ jsonrpc: "2.0", method, params }),
  };
}

/** Adds the fields that every result of the 2026 protocol has: its type, and the server's name and version. */
function stamped(result: ToolAnswer): Result {
  const meta = isRecord(result._meta) ? result._meta : {};
  return { resultType: "complete", ...result, _meta: { [SERVER_INFO_META_KEY]: IDENTITY, ...meta } };
}
