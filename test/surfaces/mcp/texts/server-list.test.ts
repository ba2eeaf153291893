import { expect, test } from "vitest";

import { formatServers } from "../../../../src/surfaces/mcp/opening/server-list.ts";

const UNITS = 1_600;

test("lists all servers first, then what they are for, then methods of each in turn [V1]", () => {
  const servers = Array.from({ length: 12 }, (_, at) => ({
    skill: `Number${at}MCP`,
    description: "Answers questions about one of the twelve numbers, and about what is known of it in the world",
    methods: Array.from({ length: 10 }, (_, method) => `method_${method}`),
  }));
  const text = formatServers(servers, UNITS);
  expect(text.length).toBeLessThanOrEqual(UNITS);
  expect(text.length).toBeGreaterThan(UNITS - 100);
  const lines = text.split("\n").filter((line) => line.startsWith("Number"));
  expect(lines).toHaveLength(12);
  for (const line of lines)
    expect(line).toMatch(/^Number\d+MCP \(Answers questions .*…\)(?:: method_0(?:, method_1)?, …)?$/);
});

test("counts the servers for which no space is left, and shows no invisible characters [V1]", () => {
  const servers = Array.from({ length: 300 }, (_, at) => ({
    skill: `Number${at}MCP`,
    description: "a\u202eb\nc",
    methods: [],
  }));
  const text = formatServers(servers, UNITS);
  expect(text.length).toBeLessThanOrEqual(UNITS);
  expect(text).toMatch(/\nNumber1MCP\n[^]*\nand \d{3} more$/);
  expect(formatServers(servers.slice(0, 1), UNITS)).toMatch(/\nNumber0MCP \(a\\u202eb c\)$/);
  expect(formatServers([], UNITS)).toBe("");
});
