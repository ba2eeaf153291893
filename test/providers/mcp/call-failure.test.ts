import { Client, ProtocolError } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";

import { explainFailure } from "../../../src/providers/mcp/call-failure.ts";
import type { Connection } from "../../../src/providers/mcp/connections/connection.ts";
import { KnownSecrets } from "../../../src/shared/secrets.ts";

test("a request after the end of a connection failed because the server is gone [M3]", async () => {
  const client = new Client({ name: "test", version: "1" });
  const thrown: unknown = await client.ping().catch((error: unknown) => error);
  const report = () => ({ exit: { code: 3, signal: null } });
  const connection = { closed: Promise.resolve(), report } as unknown as Connection;
  const facts = { server: "notes", tool: "list", skill: "NotesMCP", method: "list" };
  expect(await explainFailure(thrown, connection, facts, new KnownSecrets())).toEqual({
    kind: "gone",
    why: "exited with code 3",
  });
});

test("names the tool and the code of an error without a message [S10]", async () => {
  const facts = { server: "notes", tool: "list", skill: "NotesMCP", method: "list" };
  const failure = await explainFailure(
    new ProtocolError(-32_000, " "),
    {} as unknown as Connection,
    facts,
    new KnownSecrets(),
  );
  expect(failure).toMatchObject({
    kind: "answered",
    error: {
      message: 'Cannot complete the call: "list" of "notes" gives no details except the code -32000 (CALL_FAILED)',
      facts: { serverError: { code: -32_000 } },
    },
  });
});
