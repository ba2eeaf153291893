import { randomUUID } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { resolve } from "node:path";
import colors from "picocolors";

import { parseJsonObject } from "../../../model/json.ts";
import { getMessage } from "../../../errors.ts";
import { APPROVAL_SCOPES, type ApprovalAnswer, type Approve } from "../../../model/approval.ts";
import type { Runtime } from "../../../runtime.ts";
import type { LogListener } from "../../../runtime/options.ts";
import { answerRpc, type RpcCall, RpcFailure } from "../../../shared/json/json-rpc.ts";
import { rpcError } from "../../../shared/rpc-errors.ts";
import type { Connections } from "../../http/opening/index.ts";
import type { CommandResult } from "../command.ts";
import { createErrorResult } from "../error-answer.ts";
import { streamLines } from "../input/read-text.ts";
import type { OperationContext } from "../operations/operation.ts";
import { perform } from "../operations/perform.ts";
import { type CliSession, getRuntimeOptions } from "../session.ts";
import { filterProblems, withWarnings } from "../unknown-path.ts";
import { announceSocket, createAddress, removeSocket, sign, signVariables } from "./address.ts";
import { listFlagFiles } from "./client.ts";
import {
  MAX_REQUEST_UNITS,
  parsePerformRequest,
  type PerformRequest,
  sendMessage,
  type ServerMessage,
} from "./messages.ts";
import { type ProjectState, rememberProject } from "./project-state.ts";

/** Commands that run at the same time. */
const MAX_CONNECTIONS = 64;

/** Unread bytes of one command, which gets its whole result in one message. */
const MAX_UNREAD_BYTES = 256 << 20;

/** The socket at which a process that serves a project takes commands of the same user. */
export interface ProjectSocket {
  /** Takes no more commands; those in progress have `drainMs` to finish, and are then cancelled. */
  close(drainMs: number): Promise<void>;
}

export interface ProjectSocketOptions {
  readonly runtime: Runtime;
  readonly state: ProjectState;
  readonly cwd: string;
  /** The absolute paths of the flags that replace files of the project. */
  readonly files: readonly (string | null)[];
  /** The connections that share the limits of the process. */
  readonly connections: Pick<Connections, "watch">;
}

/** Throws an error with a sentence if no socket can be opened. */
export async function openProjectSocket(options: ProjectSocketOptions): Promise<ProjectSocket> {
  const address = createAddress(options.cwd);
  const commands = new Map<Socket, CommandConnection>();
  let secret = "";
  const server = createServer((socket) => {
    const command = new CommandConnection(socket, secret, options);
    commands.set(socket, command);
    options.connections.watch(socket, MAX_UNREAD_BYTES);
    socket.on("error", () => {}); // the command has gone
    socket.on("close", () => commands.delete(socket));
    void command.converse();
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, address.path);
  secret = announceSocket(address);
  return {
    async close(drainMs) {
      removeSocket(address);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const [socket, { isUsed }] of commands) if (!isUsed) socket.destroy();
      const timer = setTimeout(() => [...commands.keys()].forEach((socket) => socket.destroy()), drainMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** The connection of one command, which performs one operation. */
class CommandConnection {
  readonly #socket: Socket;
  readonly #secret: string;
  readonly #options: ProjectSocketOptions;
  readonly #controller = new AbortController();
  readonly #questions = new Map<number, (answer: ApprovalAnswer | undefined) => void>();
  /** True once the command has asked for its operation. */
  isUsed = false;
  #questionCount = 0;

  constructor(socket: Socket, secret: string, options: ProjectSocketOptions) {
    this.#socket = socket;
    this.#secret = secret;
    this.#options = options;
  }

  /** Answers messages until the connection closes, which cancels the operation. */
  async converse(): Promise<void> {
    this.#send({
      method: "hello",
      params: { proof: sign(this.#secret, "hello"), names: this.#options.state.listNames() },
    });
    try {
      for await (const line of streamLines(this.#socket, MAX_REQUEST_UNITS))
        void this.#answer(parseJsonObject(line ?? ""));
    } catch {
      // the connection is lost
    }
    this.#controller.abort();
    for (const answer of this.#questions.values()) answer(undefined);
    this.#socket.destroy();
  }

  async #answer(message: unknown): Promise<void> {
    const response = await answerRpc(message, (call) => this.#perform(call));
    if (response === undefined) return;
    sendMessage(this.#socket, response);
    this.#socket.end();
  }

  async #perform({ method, params }: RpcCall): Promise<unknown> {
    switch (method) {
      case "cancel":
        return this.#controller.abort();
      case "answer":
        return this.#questions.get(Number(params["id"]))?.(parseAnswer(params["answer"]));
      case "perform":
        return this.#performOnce(parsePerformRequest(params));
      default:
        throw new RpcFailure(rpcError("MethodNotFound", "The methods are perform, cancel and answer"));
    }
  }

  async #performOnce(request: PerformRequest | undefined): Promise<CommandResult> {
    if (request === undefined || this.isUsed)
      throw new RpcFailure(rpcError("InvalidParams", "A connection takes one request to perform an operation"));
    this.isUsed = true;
    const objection = await this.#findObjection(request);
    if (objection !== undefined) throw new RpcFailure(rpcError("InvalidRequest", objection));
    this.#send({ method: "accepted", params: {} });
    const { runtime } = this.#options;
    const paint = colors.createColors(request.hasColors === true);
    const answer = await this.#performOperation(request, paint).catch((thrown: unknown) =>
      createErrorResult(
        thrown,
        { paint: { out: paint, err: paint }, debug: request.isDebug === true },
        request.isTerminal === true,
      ),
    );
    return runtime.secrets.maskValue(withWarnings(answer, filterProblems(runtime.problems, false), paint));
  }

  /** Says why this process does not do the same as the command itself would do. */
  async #findObjection({ files, variables }: PerformRequest): Promise<string | undefined> {
    const { state, files: ownFiles } = this.#options;
    if (files.join("\n") !== ownFiles.join("\n")) return "it has other flags";
    const difference = await state.findDifference().catch(getMessage);
    if (difference !== undefined) return difference;
    const own = signVariables(this.#secret, state.listNames());
    return variables === own ? undefined : "environment variables have other values";
  }

  async #performOperation(request: PerformRequest, paint: OperationContext["paint"]): Promise<CommandResult> {
    const { runtime } = this.#options;
    const { operation, isVerbose = false, isTerminal = false } = request;
    const runId = randomUUID();
    const stop = this.#forwardEvents(runId);
    const context: OperationContext = {
      runtime,
      whenKnown: () => runtime.known,
      signal: this.#controller.signal,
      paint,
      isVerbose,
      isTerminal,
      options: { runId, approve: this.#createApprove(request) },
    };
    try {
      return await perform(operation, context);
    } finally {
      stop();
    }
  }

  /** Sends what the methods of one run say; what skills print outside of a call has no run, and is sent too. */
  #forwardEvents(runId: string): () => void {
    const { runtime } = this.#options;
    const stops = [
      runtime.on("log", (params) => {
        if (params.runId === undefined || params.runId === runId) this.#send({ method: "log", params });
      }),
      runtime.on("progress", (params) => {
        if (params.runId === runId) this.#send({ method: "progress", params });
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  #createApprove({ approval }: PerformRequest): Approve | false {
    if (approval === "none") return false;
    if (approval === "yes") return () => true;
    return async (request, closed) => {
      const id = ++this.#questionCount;
      const answer = new Promise<ApprovalAnswer | undefined>((resolve) => this.#questions.set(id, resolve));
      const onClosed = (): void => this.#send({ method: "closed", params: { id, reason: String(closed.reason) } });
      closed.addEventListener("abort", onClosed, { once: true });
      this.#send({ method: "ask", params: { id, request } });
      try {
        return await answer;
      } finally {
        closed.removeEventListener("abort", onClosed);
        this.#questions.delete(id);
      }
    };
  }

  #send(message: ServerMessage): void {
    sendMessage(this.#socket, message);
  }
}

function parseAnswer(answer: unknown): ApprovalAnswer | undefined {
  return typeof answer === "boolean" ? answer : APPROVAL_SCOPES.find((scope) => scope === answer);
}

export interface CommandServerOptions {
  readonly runtime: Runtime;
  readonly session: Pick<CliSession, "flags" | "folders" | "signal">;
  readonly connections: ProjectSocketOptions["connections"];
  /** Time that commands in progress have to finish when the server stops. */
  readonly drainMs: number;
  readonly log: LogListener;
}

/** Lets commands of the same user use the runtime of a server, until it stops. Returns the function that stops this. */
export function serveCommands(options: CommandServerOptions): () => Promise<void> {
  const { session, drainMs, log } = options;
  const opened = open(options).then(
    (socket) => {
      log("info", "Commands of this project use the runtime of this process");
      return socket;
    },
    (error: unknown) => {
      log("warn", `Commands of this project start their own skills and servers: ${getMessage(error)}`);
      return undefined;
    },
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= opened.then((socket) => socket?.close(drainMs)));
  session.signal.addEventListener("abort", () => void close(), { once: true });
  return close;
}

async function open({ runtime, session, connections }: CommandServerOptions): Promise<ProjectSocket> {
  const { flags, folders } = session;
  const cwd = resolve(".");
  const { readOptions } = await import("../../../runtime/settings/index.ts");
  const options = { ...getRuntimeOptions(flags), ...(flags.skills !== undefined && { skillsDir: flags.skills }) };
  const state = await rememberProject({
    cwd,
    settings: flags.settings,
    mcpConfig: flags.mcpConfig,
    skillsFolder: (await folders()).skills,
    readProblems: async () => (await readOptions(options)).problems,
    runtime,
  });
  return openProjectSocket({ runtime, state, cwd, files: listFlagFiles(flags), connections });
}
