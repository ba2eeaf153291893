// A stdio MCP server for one service of the tasks (`node server.mjs shop`), or for tools that are only listed
// (`node server.mjs tools.json`). Results are text holding JSON, without output schemas.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { ACCOUNTS, CSV, EVENTS, LOG, ORDERS, PRICES, TICKETS } from "./data.mjs";

const text = { type: "string" };
const tool = (description, properties, required, run) => ({
  description,
  inputSchema: { type: "object", properties, required },
  annotations: { readOnlyHint: true },
  run,
});

const effect = (description, properties, required, run) => ({
  ...tool(description, properties, required, run),
  annotations: { readOnlyHint: false, destructiveHint: true },
});

const refunds = [];
const files = new Map([["visits.csv", CSV]]);

const SERVICES = {
  billing: {
    refund_order: effect(
      "Refund an order",
      { order_id: text, cents: { type: "integer", minimum: 1 } },
      ["order_id", "cents"],
      (refund) => {
        refunds.push(refund);
        return { refunded: refund.order_id };
      },
    ),
    list_refunds: tool("List the refunds that were made", {}, [], () => ({ refunds })),
  },
  files: {
    read_file: tool("Read a text file", { path: text }, ["path"], ({ path }) => ({ text: files.get(path) })),
    write_file: effect("Write a text file", { path: text, text }, ["path", "text"], ({ path, text: content }) => {
      files.set(path, content);
      return { characters: content.length };
    }),
  },
  calendar: {
    list_events: tool(
      "List the events of a span of days",
      {
        from: { type: "string", pattern: "^\\d{8}$", description: "First day, YYYYMMDD" },
        to: { type: "string", pattern: "^\\d{8}$", description: "Last day, YYYYMMDD" },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 10 },
      },
      ["from", "to"],
      ({ from, to, limit = 10 }) => ({ events: EVENTS.filter(({ day }) => day >= from && day <= to).slice(0, limit) }),
    ),
  },
  shop: {
    list_orders: tool(
      "List the orders of the shop, a page at a time",
      {
        status: { enum: ["completed", "open", "cancelled"] },
        page: { type: "integer", minimum: 1, default: 1 },
        per_page: { type: "integer", minimum: 1, maximum: 25, default: 10 },
      },
      [],
      ({ status, page = 1, per_page = 10 }) => {
        const found = ORDERS.filter((order) => status === undefined || order.status === status);
        const data = found.slice((page - 1) * per_page, page * per_page);
        return { data, page, pages: Math.ceil(found.length / per_page) };
      },
    ),
    get_price: tool("Get the price of an article", { sku: text }, ["sku"], ({ sku }) => ({
      sku,
      price: PRICES.get(sku),
    })),
  },
  crm: {
    get_account: tool("Get an account by its id", { id: text }, ["id"], ({ id }) =>
      ACCOUNTS.find((account) => account.id === id),
    ),
  },
  desk: {
    find_tickets: tool("Find the tickets of a person", { assignee: text }, ["assignee"], ({ assignee }) => ({
      keys: TICKETS.filter((ticket) => ticket.assignee === assignee).map(({ key }) => key),
    })),
    get_ticket: tool("Get a ticket by its key", { key: text }, ["key"], ({ key }) =>
      TICKETS.find((ticket) => ticket.key === key),
    ),
  },
  logs: {
    read_log: tool("Read the log of a day", { day: { type: "string", format: "date" } }, ["day"], () => ({
      lines: LOG,
    })),
  },
};

const [service = ""] = process.argv.slice(2);
const tools = SERVICES[service] ?? {};
const listed = service.endsWith(".json")
  ? JSON.parse(readFileSync(service, "utf8")).tools
  : Object.entries(tools).map(([name, { run: _run, ...rest }]) => ({ name, ...rest }));

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: service.replace(/^.*\/|\.json$/g, ""), version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools: listed }),
  "tools/call": ({ name, arguments: args }) => ({
    content: [{ type: "text", text: JSON.stringify(tools[name].run(args)) }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = Object.hasOwn(METHODS, method)
    ? { result: METHODS[method](params ?? {}) }
    : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
