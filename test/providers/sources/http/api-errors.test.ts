import { expect, onTestFinished, test } from "vitest";

import { createRuntime, defineSkill } from "../../../../src/index.ts";
import { createApiClient } from "../../../../src/providers/sources/http/api-client.ts";
import { startApiServer } from "../../../support/servers/api-server.ts";

test("lets a program catch an error of an API, with its status, path, body and request id", async () => {
  const server = await startApiServer((_request, response) =>
    response
      .writeHead(429, { "content-type": "application/json", "x-request-id": "r-1", "retry-after": "90" })
      .end('{"message":"slow down","left":[0]}'),
  );
  const client = createApiClient({ server: server.origin, allowsPrivate: true });
  const skill = defineSkill({
    name: "ShopAPI",
    description: "A shop",
    methods: {
      listItems: {
        description: "Lists items",
        input: { type: "object", properties: {} },
        run: (_input, context) => {
          const request = { method: "GET", operation: "GET /items", target: "/items?key=k", headers: {} };
          return client.send(request, context, { isRead: true });
        },
      },
    },
  });
  const runtime = await createRuntime({ skills: [skill] });
  onTestFinished(async () => {
    await runtime.close();
    client.close();
  });
  const outcome = await runtime.run(`
    try { return await device.ShopAPI.listItems({}); }
    catch (error) {
      const { code, status, httpMethod, path, body, requestId, retryAfter, skill, method } = error;
      return { isError: error instanceof Error, code, status, httpMethod, path, body, requestId, retryAfter, skill, method };
    }`);
  expect(outcome).toMatchObject({
    kind: "completed",
    value: {
      isError: true,
      code: "HTTP_429",
      status: 429,
      httpMethod: "GET",
      path: "/items",
      body: { message: "slow down", left: [0] },
      requestId: "r-1",
      retryAfter: 90,
      skill: "ShopAPI",
      method: "listItems",
    },
  });
});
