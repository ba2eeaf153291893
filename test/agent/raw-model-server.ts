import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

import type { AgentOptions } from "../../src/agent/index.ts";
import { fillFence, type Wire } from "../support/agent.ts";

/** A server that answers each request with bytes as they are, for replies that no proper server sends. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly headers: readonly IncomingHttpHeaders[];
  readonly bodies: readonly Record<string, unknown>[];
  /** Settles when a connection was closed by the client before its reply had ended. */
  readonly abandoned: Promise<void>;
  readonly options: (wire: Wire) => Pick<AgentOptions, "model" | "readVariable">;
}

/** `isOpen`: the reply never ends. `isDropped`: the connection is lost behind it. */
export interface RawReply {
  readonly body: string;
  readonly type?: string;
  readonly isOpen?: boolean;
  readonly isDropped?: boolean;
}

export async function serveRaw(replies: readonly RawReply[]): Promise<RawServer> {
  const headers: IncomingHttpHeaders[] = [];
  const bodies: Record<string, unknown>[] = [];
  let onAbandoned = (): void => {};
  const abandoned = new Promise<void>((resolve) => (onAbandoned = resolve));
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const reply = replies[bodies.length];
      headers.push(request.headers);
      bodies.push(JSON.parse(body) as Record<string, unknown>);
      response.writeHead(reply === undefined ? 400 : 200, { "content-type": reply?.type ?? "text/event-stream" });
      response.write(fillFence(reply?.body ?? "{}", body), () => reply?.isDropped === true && response.destroy());
      response.on("close", () => !response.writableFinished && onAbandoned());
      if (reply?.isOpen !== true && reply?.isDropped !== true) response.end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables: Readonly<Record<string, string>> = {
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "sk-test-key-of-openai",
    ANTHROPIC_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: "sk-ant-test-key",
    OLLAMA_HOST: url,
  };
  return {
    url,
    headers,
    bodies,
    abandoned,
    options: (wire) => ({ model: `${wire}:test-model`, readVariable: (name) => variables[name] }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A tool call with these arguments, as each wire streams it. */
export function rawToolCall(wire: Wire, name: string, args: string): RawReply {
  switch (wire) {
    case "openai":
      return events([
        {
          choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "c1", function: { name, arguments: args } }] } }],
        },
        { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ]);
    case "anthropic":
      return anthropicMessage(
        { type: "tool_use", id: "c1", name, input: {} },
        { type: "input_json_delta", partial_json: args },
        "tool_use",
      );
    case "ollama":
      return lines([
        { message: { role: "assistant", content: "", tool_calls: [{ function: { name, arguments: args } }] } },
        { done: true, done_reason: "stop" },
      ]);
  }
}

export function rawText(wire: Wire, text: string, finish: "stop" | "length" | "none" = "stop"): RawReply {
  switch (wire) {
    case "openai":
      return events([
        { choices: [{ index: 0, delta: { content: text } }] },
        ...(finish === "none" ? [] : [{ choices: [{ index: 0, delta: {}, finish_reason: finish }] }]),
      ]);
    case "anthropic": {
      const reason = { stop: "end_turn", length: "max_tokens", none: undefined }[finish];
      return anthropicMessage({ type: "text", text: "" }, { type: "text_delta", text }, reason);
    }
    case "ollama":
      return lines([
        { message: { role: "assistant", content: text } },
        ...(finish === "none" ? [] : [{ done: true, done_reason: finish }]),
      ]);
  }
}

function anthropicMessage(block: unknown, delta: unknown, reason: string | undefined): RawReply {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "m1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage };
  return events([
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    ...(reason === undefined
      ? []
      : [
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: reason }, usage },
          { type: "message_stop" },
        ]),
  ]);
}

export function events(chunks: readonly Readonly<Record<string, unknown>>[]): RawReply {
  const body = chunks.map((chunk) => {
    const { type } = chunk;
    return `${typeof type === "string" ? `event: ${type}\n` : ""}data: ${JSON.stringify(chunk)}\n\n`;
  });
  return { body: body.join("") };
}

function lines(chunks: readonly unknown[]): RawReply {
  return { body: chunks.map((chunk) => `${JSON.stringify(chunk)}\n`).join("") };
}
