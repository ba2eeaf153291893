import { expect, onTestFinished, test } from "vitest";

import { createRuntime } from "../../../../src/index.ts";
import { createJsonServer } from "../../../support/mcp/json-server.ts";

test("an error of a server over HTTP has the numbers that the server wrote, and no mark of them [M5, S6]", async () => {
  const url = await createJsonServer({ tools: ["wire"], as: "errors" });
  const runtime = await createRuntime({ skillsDir: false, mcpServers: { json: { url } } });
  onTestFinished(() => runtime.close());
  const json = JSON.stringify('{"content":[],"structuredContent":{"x":[1.50,12345678901234567890]}}');
  const outcome = await runtime.run(
    `try { await device.JsonMCP.wire({ json: ${json} }) } catch (error) { return error.message }`,
  );
  expect(outcome).toMatchObject({ value: expect.stringContaining('"x":[1.50,12345678901234567890]') as string });
  expect(JSON.stringify(outcome)).not.toContain("exact-");
});
