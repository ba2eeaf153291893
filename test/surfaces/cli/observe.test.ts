import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { project, skillgate } from "./command.ts";

/** Writes the names of called tools to a file. */
const SERVER = `
const { appendFileSync } = require("node:fs");
const readOnly = { readOnlyHint: true };
const object = (properties = {}, required = []) => ({ type: "object", properties, required });
const tools = [
  { name: "list_orders", annotations: readOnly, inputSchema: object({ page: { type: "number" } }) },
  { name: "get_order", annotations: readOnly, inputSchema: object({ id: { type: "string", examples: ["o-1"] } }, ["id"]) },
  { name: "search_orders", annotations: readOnly, inputSchema: object({ query: { type: "string" } }, ["query"]) },
  { name: "fail_to_read", annotations: readOnly, inputSchema: object() },
  { name: "typed", annotations: readOnly, inputSchema: object(), outputSchema: object({ a: { type: "string" } }) },
  { name: "delete_orders", inputSchema: object() },
  { name: "wipe", annotations: { readOnlyHint: true, destructiveHint: true }, inputSchema: object() },
];
const results = {
  "server/discover": undefined,
  initialize: () => ({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "shop", version: "1" } }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name }) => {
    appendFileSync("called.txt", name + "\\n");
    if (name === "fail_to_read") return { isError: true, content: [{ type: "text", text: "no luck" }] };
    const order = { id: "o-1", total: 5 };
    return { content: [{ type: "text", text: JSON.stringify(name === "get_order" ? order : [order]) }] };
  },
};
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const make = results[method];
  const answer = make ? { result: make(params) } : { error: { code: -32601, message: "Method not found" } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});`;

const FILES = {
  "shop.cjs": SERVER,
  "mcp.json": JSON.stringify({ mcpServers: { shop: { command: process.execPath, args: ["shop.cjs"] } } }),
};

test(
  "mcp observe calls methods that only read once, and the next command knows their results [D3]",
  { tags: "rest" },
  async () => {
    const cwd = project(FILES);
    const { exit, stdout, stderr } = await skillgate(["mcp", "observe", "shop", "--yes"], { cwd });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toMatch(
      /^ShopMCP\.fail_to_read failed: .*no luck.*\nShopMCP\.get_order\(\{"id":"o-1"\}\): \{ id: string; total: number \}\nShopMCP\.list_orders: \{ id: string; total: number \}\[\]\n$/,
    );
    expect(readFileSync(join(cwd, "called.txt"), "utf8")).toBe("fail_to_read\nget_order\nlist_orders\n");
    const described = await skillgate(["describe", "ShopMCP.list_orders"], { cwd });
    expect(described.stdout).toContain("Promise<{ id: string; total: number }[]>");
    expect(described.stdout).toContain("observed once, so it is a guess");
  },
);

test("mcp observe has its earlier name, mcp learn, which no help shows [D3]", { tags: "rest" }, async () => {
  const cwd = project(FILES);
  const { exit, stdout } = await skillgate(["mcp", "learn", "shop", "--yes"], { cwd });
  expect({ exit, stdout }).toEqual({ exit: 0, stdout: expect.stringContaining("ShopMCP.list_orders: { id: string;") });
  const shown = [
    ["mcp", "--help"],
    ["mcp", "lern"],
    ["completion", "bash"],
  ];
  const texts = await Promise.all(shown.map((args) => skillgate(args, { cwd })));
  for (const text of texts.map(({ stdout, stderr }) => `${stdout}${stderr}`)) {
    expect(text).toMatch(/observe|lern; see/);
    expect(text).not.toContain("learn");
  }
});

test("mcp observe calls nothing without a confirmation [D3]", async () => {
  const cwd = project(FILES);
  const { exit, stderr } = await skillgate(["mcp", "observe"], { cwd });
  expect(exit).toBe(4);
  expect(stderr).toContain("Cannot call 3 methods: there is no terminal to confirm it at");
  expect(existsSync(join(cwd, "called.txt"))).toBe(false);
});

test(
  "mcp test says how to observe results, observes them with --observe, and has no more to say then [D3]",
  { tags: "rest" },
  async () => {
    const cwd = project(FILES);
    const first = await skillgate(["mcp", "test", "shop"], { cwd });
    expect(first.stderr).toBe(
      "3 methods that only read do not say what the result is like. To call each once and see: skillgate mcp observe shop\n",
    );
    expect(existsSync(join(cwd, "called.txt"))).toBe(false);
    const second = await skillgate(["mcp", "test", "shop", "--observe"], { cwd });
    expect(second.stdout).toContain("ShopMCP.list_orders: { id: string; total: number }[]\n");
    const third = await skillgate(["mcp", "test", "shop"], { cwd });
    expect(third.stderr).toContain("1 method that only reads does not say what the result is like.");
    expect(readFileSync(join(cwd, "called.txt"), "utf8")).toBe("fail_to_read\nget_order\nlist_orders\n");
  },
);

test("mcp observe calls at most 20 methods of a server [D3]", { tags: "rest" }, async () => {
  const many = SERVER.replace(
    "const results = {",
    "for (let at = 0; at < 30; at++) tools.push({ ...tools[0], name: 'list_' + at });\nconst results = {",
  );
  const cwd = project({ ...FILES, "shop.cjs": many });
  const { exit } = await skillgate(["mcp", "observe", "shop", "--yes"], { cwd });
  expect(exit).toBe(0);
  expect(readFileSync(join(cwd, "called.txt"), "utf8").trim().split("\n")).toHaveLength(20);
});
