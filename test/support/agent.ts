import { LLMock } from "@copilotkit/aimock";

import { type Agent, type AgentEvent, type AgentOptions, createAgent } from "../../src/agent/index.ts";
import { createRuntime, defineSkill, type Runtime } from "../../src/index.ts";
import { ADD } from "./math-skill.ts";

/** The three protocols of model servers. */
export const WIRES = ["openai", "anthropic", "ollama"] as const;

export type Wire = (typeof WIRES)[number];

type MockResponse = Awaited<ReturnType<Extract<Parameters<LLMock["on"]>[1], (...args: never[]) => unknown>>>;

/** A reply of the server, and how it is sent. */
export interface ServedReply {
  readonly response: MockResponse;
  readonly chunkSize?: number;
  /** The connection is cut after this many chunks. */
  readonly truncateAfterChunks?: number;
}

/** A server of models that gives one reply after the other, on every wire, and records the requests. */
export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: () => readonly ServedRequest[];
  /** The options with which an agent talks to this server. */
  readonly options: (wire: Wire) => Pick<AgentOptions, "model" | "readVariable">;
}

/** A request in the format of OpenAI, whatever its wire was. */
export interface ServedRequest {
  readonly path: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown; readonly tool_call_id?: string }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function serveReplies(replies: readonly ServedReply[]): Promise<ModelServer> {
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  let next = 0;
  for (const [index, { response, ...options }] of replies.entries())
    mock.on(
      { predicate: () => index === next },
      (request) => ((next = index + 1), fillFence(response, JSON.stringify(request))),
      options,
    );
  await mock.start();
  const variables: Readonly<Record<string, string>> = {
    OPENAI_BASE_URL: `${mock.url}/v1`,
    OPENAI_API_KEY: "sk-test-key-of-openai",
    ANTHROPIC_BASE_URL: `${mock.url}/v1`,
    ANTHROPIC_API_KEY: "sk-ant-test-key",
    OLLAMA_HOST: mock.url,
  };
  return {
    url: mock.url,
    requests: () =>
      mock.getRequests().map(({ path, headers, body }) => ({ ...(body as object), path, headers, body }) as never),
    options: (wire) => ({ model: `${wire}:test-model`, readVariable: (name) => variables[name] }),
    async [Symbol.asyncDispose]() {
      await mock.stop();
    },
  };
}

/** Fills `{fence}` in a reply with the fence that a request states for programs. */
export function fillFence<Reply>(reply: Reply, request: string): Reply {
  const fence = /js run-\w+/.exec(request)?.[0] ?? "js";
  return JSON.parse(JSON.stringify(reply).replaceAll("{fence}", fence)) as Reply;
}

/** A call of the tool `run_code`. */
export const callCode = (code: string): ServedReply => callTool("run_code", JSON.stringify({ code }));

export const callTool = (name: string, args: string): ServedReply => ({
  response: { toolCalls: [{ name, arguments: args }] },
});

export const sayText = (content: string, chunkSize = 8): ServedReply => ({ response: { content }, chunkSize });

export const failWith = (status: number, message: string, retryAfter?: number): ServedReply => ({
  response: { error: { message, type: "error" }, status, ...(retryAfter !== undefined && { retryAfter }) },
});

/** A runtime with one skill that adds numbers. */
export async function createMathRuntime(): Promise<Runtime> {
  const MathSkill = defineSkill({ name: "MathSkill", description: "Adds numbers", methods: { add: ADD } });
  return createRuntime({ skillsDir: false, skills: [MathSkill], typecheck: false });
}

/** Sends a message, and returns all events. */
export async function collect(agent: Agent, text = "What is 2 + 3?", signal?: AbortSignal): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of agent.send(text, signal === undefined ? {} : { signal })) events.push(event);
  return events;
}

/** Returns the events of some types, in their order. */
export function pick<Type extends AgentEvent["type"]>(
  events: readonly AgentEvent[],
  ...types: readonly Type[]
): Extract<AgentEvent, { type: Type }>[] {
  return events.filter((event) => types.some((type) => type === event.type)) as Extract<AgentEvent, { type: Type }>[];
}

export function getDone(events: readonly AgentEvent[]): Extract<AgentEvent, { type: "done" }> {
  const [done] = pick(events, "done");
  if (done === undefined || events.at(-1) !== done) throw new Error("the last event is not done");
  return done;
}

/** Returns the text that the deltas of a channel show. */
export function getShown(events: readonly AgentEvent[], channel: "text" | "thinking" = "text"): string {
  return pick(events, "delta")
    .filter((event) => event.channel === channel)
    .map(({ text }) => text)
    .join("");
}

export { createAgent };
