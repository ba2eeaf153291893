import { expect, test } from "vitest";

import { toServerConfig } from "../../../../src/config/index.ts";
import type { Client } from "../../../../src/model/client-requests.ts";
import type { CallContext } from "../../../../src/model/skill.ts";
import { call, connected, fixture } from "../../../support/mcp/servers.ts";

const ANSWER = { action: "accept", content: { name: "Ada", age: 7 } };

const by = (era: Client["era"]): Partial<CallContext> => ({
  caller: { id: "ada", permissions: ["call:*"] },
  client: { ...(era && { era }), can: () => true, ask: async () => ANSWER },
});

test("sends the requests of a server of both eras to a client of the older protocol [M7]", async () => {
  const provider = await connected([fixture(["both-eras"])]);
  expect(await call(provider, "ask", {}, by("legacy"))).toEqual(ANSWER);
  expect(await call(provider, "era")).toBe("modern");
  expect(await call(provider, "era", {}, by("legacy"))).toBe("legacy");
  expect(await call(provider, "era", {}, by("modern"))).toBe("modern");
  expect(await call(provider, "era", {}, by(undefined))).toBe("modern");
});

test("connects a client of the older protocol to a server that has only the newer one [M3] [M7]", async () => {
  const provider = await connected([fixture(["modern", "modern-only"])]);
  expect(await call(provider, "ask", {}, by("legacy"))).toEqual({ ...ANSWER, state: "s1" });
  expect(await call(provider, "era", {}, by("legacy"))).toBe("modern");
});

test.each([
  ["auto", "modern"],
  ["legacy", "legacy"],
  ["modern", "modern"],
])("speaks the protocol that an entry chooses (%s) [M1] [M3]", { tags: "rest" }, async (protocol, era) => {
  const provider = await connected([fixture(["both-eras"], { protocol })]);
  expect(await call(provider, "era")).toBe(era);
  expect(await call(provider, "era", {}, by("modern"))).toBe(era);
});

test("keeps to the protocol of an entry for clients of the older one [M3]", async () => {
  const provider = await connected([fixture(["both-eras"], { protocol: "modern" })]);
  expect(await call(provider, "era", {}, by("legacy"))).toBe("modern");
});

test.each([
  ["modern", []],
  ["legacy", ["modern", "modern-only"]],
])("reports a server that lacks the protocol of its entry (%s) [M3]", async (protocol, ways) => {
  const provider = await connected([fixture(ways, { protocol })]);
  expect(provider.servers).toMatchObject([{ status: "error", error: expect.stringMatching(/protocol/i) as string }]);
});

test("reports a protocol that does not exist [M1]", () => {
  expect(() => toServerConfig("web", { url: "https://web.example", protocol: "2025" })).toThrow(
    `MCP server 'web': protocol must be auto, legacy or modern: "2025"`,
  );
});
