import { connect, type Socket } from "node:net";
import { resolve } from "node:path";

import { sentence, SkillgateError } from "../../../errors.ts";
import { isRecord, parseJsonObject } from "../../../model/json.ts";
import type { CommandResult } from "../command.ts";
import { streamLines } from "../input/read-text.ts";
import type { CommandOperation } from "../operations/operation.ts";
import type { CliSession, CommonFlags } from "../session.ts";
import { createLiveOutput, type LiveOutput } from "../terminal/live-output.ts";
import { logLine } from "../text/output.ts";
import { type AnnouncedSocket, listSockets, removeSocket, sign, signVariables } from "./address.ts";
import {
  type Hello,
  MAX_MESSAGE_UNITS,
  parseResult,
  parseServerMessage,
  type PerformRequest,
  sendMessage,
  type ServerMessage,
} from "./messages.ts";

/** Milliseconds within which a process must say hello, so that a stopped one does not delay a command. */
const HELLO_MS = 1_000;

/** The flag that starts everything for one command, as an argument of `option`. */
export const NO_SOCKET = [
  "--no-socket",
  'start the skills and servers for this command, even while "skillgate serve" runs for this project',
] as const;

export interface OperationFlags {
  readonly yes?: true;
  /** False with `--no-socket`. */
  readonly socket: boolean;
}

/** Lets a process that serves the project perform an operation; `undefined` if none can do it as this process would. */
export async function performAtSocket(
  operation: CommandOperation,
  { yes, socket: isAllowed }: OperationFlags,
  session: CliSession,
): Promise<CommandResult | undefined> {
  const { flags, signal, write } = session;
  if (!isAllowed || flags.inspectSkills) return undefined;
  for (const address of listSockets(resolve("."))) {
    if (signal.aborted) return undefined;
    const end = await new ServerConversation(address, session).perform(operation, yes === true);
    if (end.kind === "result") {
      if (operation.kind === "call" && end.result.exit !== "ok") signal.throwIfAborted(); // as a call of this process
      return end.result;
    }
    if (end.kind === "gone") removeSocket(address);
    if (flags.verbose) write("err", `The runtime of "skillgate serve" is not used: ${end.why}\n`);
  }
  return undefined;
}

/** The absolute paths of the flags that replace files of the project. */
export function listFlagFiles({ skills, settings, mcpConfig }: CommonFlags): readonly (string | null)[] {
  return [skills, settings, mcpConfig].map((file) => (file === undefined ? null : resolve(file)));
}

type End =
  | { readonly kind: "result"; readonly result: CommandResult }
  | { readonly kind: "refused" | "gone"; readonly why: string };

/** The conversation of a command with one process. */
class ServerConversation {
  readonly #address: AnnouncedSocket;
  readonly #session: CliSession;
  readonly #live: LiveOutput | undefined;
  readonly #questions = new Map<number, AbortController>();
  #isProven = false;
  #isAccepted = false;

  constructor(address: AnnouncedSocket, session: CliSession) {
    this.#address = address;
    this.#session = session;
    this.#live = createLiveOutput(session);
  }

  async perform(operation: CommandOperation, isApproved: boolean): Promise<End> {
    const socket = await open(this.#address.path);
    if (typeof socket === "string") return toEnd(socket);
    const { signal } = this.#session;
    const cancel = (): void => sendMessage(socket, { method: "cancel", params: {} });
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    const hello = setTimeout(() => socket.destroy(), HELLO_MS);
    let end: End = { kind: "refused", why: "it does not answer" };
    try {
      for await (const line of streamLines(socket, MAX_MESSAGE_UNITS)) {
        const value = parseJsonObject(line ?? "");
        if (value === undefined) break;
        const message = parseServerMessage(value);
        if (this.#isProven && value["id"] === 1) {
          end = readResponse(value);
          break;
        }
        if (this.#isProven && message !== undefined) this.#show(message, socket);
        if (this.#isProven) continue;
        if (message?.method !== "hello" || !this.#greet(socket, message.params, { operation, isApproved })) break;
        clearTimeout(hello);
      }
    } catch {
      // the connection is lost
    } finally {
      clearTimeout(hello);
      signal.removeEventListener("abort", cancel);
      this.#live?.end();
      for (const question of this.#questions.values()) question.abort("The connection is lost");
      socket.destroy();
    }
    // An accepted operation may have had an effect: it is not done again.
    if (this.#isAccepted && end.kind !== "result")
      throw new SkillgateError(
        "RUNTIME_CLOSED",
        sentence("RUNTIME_CLOSED", '"skillgate serve" has ended, and calls may have been made'),
        { fix: "See what was called with: skillgate audit list. Then run the command again" },
      );
    return end;
  }

  /** Sends the request, unless the process does not know the secret. No other message counts before that. */
  #greet(socket: Socket, { proof, names }: Hello, { operation, isApproved }: OperationRequest): boolean {
    const { secret } = this.#address;
    if (proof !== sign(secret, "hello")) return false;
    this.#isProven = true;
    const { flags, approve, paint } = this.#session;
    const params: PerformRequest = {
      variables: signVariables(secret, names),
      files: listFlagFiles(flags),
      operation,
      approval: isApproved ? "yes" : approve === undefined ? "none" : "ask",
      hasColors: paint.err.isColorSupported,
      isTerminal: process.stderr.isTTY,
      isVerbose: flags.verbose === true,
      isDebug: flags.debug === true,
    };
    sendMessage(socket, { id: 1, method: "perform", params });
    return true;
  }

  #show(message: ServerMessage, socket: Socket): void {
    const { flags, paint, write } = this.#session;
    switch (message.method) {
      case "hello":
        return;
      case "accepted":
        this.#isAccepted = true;
        return;
      case "log":
        this.#live?.onLog(message.params);
        if (flags.verbose) write("err", logLine({ path: undefined, ...message.params }, paint.err));
        return;
      case "progress":
        return this.#live?.onProgress(message.params);
      case "ask":
        return void this.#ask(message.params, socket);
      case "closed":
        return this.#questions.get(message.params.id)?.abort(message.params.reason);
    }
  }

  async #ask({ id, request }: SocketQuestion, socket: Socket): Promise<void> {
    const closed = new AbortController();
    this.#questions.set(id, closed);
    const answer = await this.#session.approve?.(request, closed.signal);
    this.#questions.delete(id);
    sendMessage(socket, { method: "answer", params: { id, answer: answer ?? null } });
  }
}

interface OperationRequest {
  readonly operation: CommandOperation;
  readonly isApproved: boolean;
}

type SocketQuestion = Extract<ServerMessage, { method: "ask" }>["params"];

/** Connects, or returns the code of the error. */
function open(path: string): Promise<Socket | string> {
  return new Promise((settle) => {
    const socket = connect(path);
    socket.once("connect", () => settle(socket.on("error", () => {})));
    socket.once("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.name));
  });
}

/** Says why there is no connection. Only a socket that nothing listens to is removed: others may be busy. */
function toEnd(code: string): End {
  if (code === "ECONNREFUSED" || code === "ENOENT") return { kind: "gone", why: "it has ended" };
  return { kind: "refused", why: `its socket cannot be reached (${code})` };
}

function readResponse({ result, error }: Readonly<Record<string, unknown>>): End {
  const parsed = parseResult(result);
  if (parsed !== undefined) return { kind: "result", result: parsed };
  const data = isRecord(error) ? error["data"] : undefined;
  const reason = isRecord(data) ? data["reason"] : undefined;
  return { kind: "refused", why: typeof reason === "string" ? reason : "its answer cannot be read" };
}
