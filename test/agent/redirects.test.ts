import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";

import { collect, createAgent, createMathRuntime, getDone, pick, WIRES } from "../support/agent.ts";

const runtime = await createMathRuntime();
afterAll(() => runtime.close());

async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.each(WIRES)("over the wire of %s", (wire) => {
  test.each([301, 302, 307, 308])(
    "sends neither key nor conversation to another server after %d [G1, P9]",
    async (status) => {
      const received: IncomingHttpHeaders[] = [];
      const other = await listen((request, response) => {
        received.push(request.headers);
        response.end("{}");
      });
      let requests = 0;
      const url = await listen((_request, response) => {
        requests++;
        response.writeHead(status, { location: `${other}/v1/stolen` }).end();
      });
      const variables: Readonly<Record<string, string>> = {
        OPENAI_BASE_URL: `${url}/v1`,
        OPENAI_API_KEY: "sk-test-key-of-openai",
        ANTHROPIC_BASE_URL: `${url}/v1`,
        ANTHROPIC_API_KEY: "sk-ant-test-key",
        OLLAMA_HOST: url,
        OLLAMA_API_KEY: "ollama-test-key",
      };
      const agent = createAgent({ runtime, model: `${wire}:test-model`, readVariable: (name) => variables[name] });
      const events = await collect(agent);
      expect(getDone(events).reason).toBe("error");
      const says = `the server redirects to ${other}; if that is intended, configure this address as its url`;
      expect(JSON.stringify(pick(events, "error"))).toContain(says);
      expect({ received, requests }).toEqual({ received: [], requests: 1 });
    },
  );
});
