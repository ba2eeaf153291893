// @module-tag rest

import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

interface SolvedTask {
  readonly task: string;
  readonly turns: number;
  readonly tokens: number;
  readonly calls: number;
  readonly errors: number;
  readonly isRight: boolean;
}

interface ModelRequest {
  readonly path: string | undefined;
  readonly key: string | undefined;
  readonly tools: readonly string[];
  readonly system: string;
}

/** A call of a tool, or the answer that ends the conversation. */
type Reply = { readonly tool: string; readonly args: object } | string;

const CODE = `await device.DeskMCP.add_ticket_comment({ id: "ticket-7", text: "call back" })`;

/** What the model replies with these tools and this number of results so far. */
function reply(hasPrograms: boolean, results: number): Reply {
  if (results > 0) return "It is done.";
  if (hasPrograms) return { tool: "run_code", args: { code: CODE } };
  return { tool: "add_ticket_comment", args: { id: "ticket-7", text: "call back" } };
}

/** A server that speaks the protocols of both providers. */
async function serveModel(): Promise<{ readonly url: string; readonly requests: readonly ModelRequest[] }> {
  const requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      const isAnthropic = request.url === "/messages";
      const { messages, tools, system } = JSON.parse(body) as {
        readonly messages: readonly { readonly role: string; readonly content: unknown }[];
        readonly tools: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
        readonly system?: string;
      };
      const names = tools.map((tool) => tool.function?.name ?? tool.name ?? "");
      const key = isAnthropic ? request.headers["x-api-key"] : request.headers.authorization;
      requests.push({
        path: request.url,
        key: String(key),
        tools: names,
        system: system ?? String(messages[0]?.content),
      });
      const results = messages.filter(
        ({ role, content }) => role === "tool" || (role === "user" && Array.isArray(content)),
      );
      const next = reply(names.includes("run_code"), results.length);
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(isAnthropic ? toAnthropic(next) : toOpenAi(next)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

function toAnthropic(next: Reply): object {
  const block =
    typeof next === "string"
      ? { type: "text", text: next }
      : { type: "tool_use", id: "c1", name: next.tool, input: next.args };
  return { content: [block], usage: { input_tokens: 90, output_tokens: 10 } };
}

function toOpenAi(next: Reply): object {
  const message =
    typeof next === "string"
      ? { role: "assistant", content: next }
      : {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "c1", type: "function", function: { name: next.tool, arguments: JSON.stringify(next.args) } },
          ],
        };
  return { choices: [{ message }], usage: { prompt_tokens: 90, completion_tokens: 10 } };
}

test.each(["openai", "anthropic"])(
  "a model behind an endpoint of %s solves a task with Skillgate and with plain tool calls [D4]",
  { timeout: 120_000 },
  async (api) => {
    const { url, requests } = await serveModel();
    const script = "test/bench/models/live/index.mjs";
    const args = [script, "--api", api, "--url", url, "--model", "any", "--tasks", "one effect", "--json"];
    const env = { ...process.env, MODEL_KEY: "sk-live-test" };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env, maxBuffer: 1 << 20 });
    const solved = { task: "one effect", turns: 2, tokens: 200, calls: 1, errors: 0, isRight: true };
    expect(JSON.parse(stdout) as Record<string, SolvedTask[]>).toEqual({
      Skillgate: [solved],
      "plain tool calls": [solved],
    });
    expect(requests.map(({ tools }) => tools.length)).toEqual([3, 3, 120, 120]);
    expect(requests[0]?.system).toContain("add_ticket_comment");
    expect(new Set(requests.map(({ key }) => key))).toEqual(
      new Set([api === "openai" ? "Bearer sk-live-test" : "sk-live-test"]),
    );
  },
);
