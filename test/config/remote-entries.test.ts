import { expect, test } from "vitest";

import { CLIENTS, normalizeEntry } from "../../src/config/index.ts";

const URL = "http://127.0.0.1:3333/mcp";
const HEADERS = { Authorization: "Bearer sg_key" };

test.each(CLIENTS.filter(({ id }) => id !== "claude-desktop"))(
  "writes an address for $title as it reads one [V1]",
  (client) => {
    expect(normalizeEntry(client.toRemoteEntry(URL, HEADERS), client.id)).toMatchObject({
      type: "http",
      url: URL,
      headers: HEADERS,
    });
  },
);

test("starts a process for a client that takes no address, with the key in a variable [V1]", () => {
  const client = CLIENTS.find(({ id }) => id === "claude-desktop");
  expect(client?.toRemoteEntry(URL, HEADERS)).toEqual({
    command: "npx",
    args: ["-y", "mcp-remote", URL, "--header", "Authorization:${AUTHORIZATION}"],
    env: { AUTHORIZATION: "Bearer sg_key" },
  });
});
