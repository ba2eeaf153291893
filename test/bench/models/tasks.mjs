// The tasks, each with two recorded models. A model is a generator: it yields calls, receives the texts of their results,
// and returns its answer. It decides only by what it is shown: `page` is its prompt with the tools.

import { ACCOUNTS, CSV, EVENTS, LOG, ORDERS, PRICES, sum, TICKETS } from "./data.mjs";

const SKUS = [...PRICES.keys()];

export const TASKS = [
  {
    name: "text holding JSON",
    maxTurns: 2,
    expected: sum(ORDERS.filter(({ status }) => status === "completed").map(({ total }) => total)),
    *program() {
      return readNumber(
        yield* run(`let total = 0;
for (let page = 1, pages = 1; page <= pages; page++) {
  const result = await device.ShopMCP.list_orders({ status: "completed", per_page: 25, page });
  total += result.data.reduce((sum, order) => sum + order.total, 0);
  pages = result.pages;
}
total`),
      );
    },
    *plain() {
      const list = (page) => ({ tool: "list_orders", args: { status: "completed", per_page: 25, page } });
      const first = JSON.parse((yield [list(1)])[0]);
      const others = yield Array.from({ length: first.pages - 1 }, (_, n) => list(n + 2));
      return sum(
        [first, ...others.map((text) => JSON.parse(text))].flatMap(({ data }) => data.map(({ total }) => total)),
      );
    },
  },
  {
    name: "types of results",
    maxTurns: 2,
    expected: sum(ACCOUNTS.map(({ plan_details: plan }) => plan.seats_licensed - plan.seats_in_use)),
    *program(page) {
      // Without the type of the result, a model looks at one first.
      if (!page.includes("seats_licensed")) yield* run(`await device.CrmMCP.get_account({ id: "a1" })`);
      return readNumber(
        yield* run(`const accounts = await Promise.all(["a1", "a2", "a3", "a4"].map((id) => device.CrmMCP.get_account({ id })));
accounts.reduce((free, { plan_details: plan }) => free + plan.seats_licensed - plan.seats_in_use, 0)`),
      );
    },
    *plain() {
      const texts = yield ACCOUNTS.map(({ id }) => ({ tool: "get_account", args: { id } }));
      const plans = texts.map((text) => JSON.parse(text).plan_details);
      return sum(plans.map((plan) => plan.seats_licensed - plan.seats_in_use));
    },
  },
  {
    name: "catalog on the page",
    maxTurns: 2,
    expected: sum(TICKETS.filter(({ assignee }) => assignee === "mara").map((ticket) => ticket.hours_spent)),
    *program(page) {
      // A method that the page does not show is searched first.
      if (!/find_tickets\(/.test(page) || !/get_ticket\(/.test(page))
        yield [{ tool: "search_skills", args: { query: "find tickets of a person" } }];
      return readNumber(
        yield* run(`const { keys } = await device.DeskMCP.find_tickets({ assignee: "mara" });
const tickets = await Promise.all(keys.map((key) => device.DeskMCP.get_ticket({ key })));
tickets.reduce((hours, ticket) => hours + ticket.hours_spent, 0)`),
      );
    },
    *plain() {
      const { keys } = JSON.parse((yield [{ tool: "find_tickets", args: { assignee: "mara" } }])[0]);
      const texts = yield keys.map((key) => ({ tool: "get_ticket", args: { key } }));
      return sum(texts.map((text) => JSON.parse(text).hours_spent));
    },
  },
  {
    name: "large result",
    maxTurns: 3,
    expected: LOG.filter(({ level }) => level === "error").length,
    *program() {
      const text = yield* run(`await device.LogsMCP.read_log({ day: "2026-01-05" })`);
      const handle = /device\.result\("(r\d+)"\)/.exec(text)?.[1];
      const value =
        handle === undefined ? `device.LogsMCP.read_log({ day: "2026-01-05" })` : `device.result("${handle}")`;
      return readNumber(
        yield* run(`const { lines } = await ${value};\nlines.filter(({ level }) => level === "error").length`),
      );
    },
    *plain() {
      const { lines } = JSON.parse((yield [{ tool: "read_log", args: { day: "2026-01-05" } }])[0]);
      return lines.filter(({ level }) => level === "error").length;
    },
  },
  {
    name: "100 calls at once",
    maxTurns: 2,
    expected: sum([...PRICES.values()]),
    *program() {
      const skus = `Array.from({ length: 100 }, (_, n) => \`sku-\${n + 1}\`)`;
      const text =
        yield* run(`const prices = await Promise.all(${skus}.map((sku) => device.ShopMCP.get_price({ sku })));
prices.reduce((sum, { price }) => sum + price, 0)`);
      if (!/LIMIT/.test(text)) return readNumber(text);
      return readNumber(
        yield* run(`let sum = 0;
for (const sku of ${skus}) sum += (await device.ShopMCP.get_price({ sku })).price;
sum`),
      );
    },
    *plain() {
      const texts = yield SKUS.map((sku) => ({ tool: "get_price", args: { sku } }));
      return sum(texts.map((text) => JSON.parse(text).price));
    },
  },
  {
    name: "effects",
    maxTurns: 2,
    expected: 3,
    *program() {
      return readNumber(
        yield* run(`const { data } = await device.ShopMCP.list_orders({ status: "cancelled", per_page: 3 });
for (const order of data) await device.BillingMCP.refund_order({ order_id: order.id, cents: order.total * 100 });
(await device.BillingMCP.list_refunds()).refunds.length`),
      );
    },
    *plain() {
      const [orders] = yield [{ tool: "list_orders", args: { status: "cancelled", per_page: 3 } }];
      yield JSON.parse(orders).data.map(({ id, total }) => ({
        tool: "refund_order",
        args: { order_id: id, cents: total * 100 },
      }));
      return JSON.parse((yield [{ tool: "list_refunds", args: {} }])[0]).refunds.length;
    },
  },
  {
    name: "files",
    maxTurns: 2,
    expected: sum(
      CSV.split("\n")
        .slice(1)
        .map((line) => Number(line.split(",")[1])),
    ),
    *program() {
      return readNumber(
        yield* run(`const { text } = await device.FilesMCP.read_file({ path: "visits.csv" });
const visits = text.trim().split("\\n").slice(1).map((line) => Number(line.split(",")[1]));
const total = visits.reduce((sum, count) => sum + count, 0);
await device.FilesMCP.write_file({ path: "total.txt", text: String(total) });
Number((await device.FilesMCP.read_file({ path: "total.txt" })).text)`),
      );
    },
    *plain() {
      const { text } = JSON.parse((yield [{ tool: "read_file", args: { path: "visits.csv" } }])[0]);
      const lines = text.split("\n").slice(1);
      const total = sum(lines.map((line) => Number(line.split(",")[1])));
      yield [{ tool: "write_file", args: { path: "total.txt", text: String(total) } }];
      return Number(JSON.parse((yield [{ tool: "read_file", args: { path: "total.txt" } }])[0]).text);
    },
  },
  {
    name: "awkward parameters",
    maxTurns: 2,
    expected: sum(EVENTS.filter(({ day }) => day >= "20260105" && day <= "20260111").map(({ minutes }) => minutes)),
    *program(page) {
      const write = (from, to) =>
        run(`const { events } = await device.CalendarMCP.list_events({ from: "${from}", to: "${to}", limit: 50 });
events.reduce((sum, { minutes }) => sum + minutes, 0)`);
      // Without the form of the dates on the page, a model writes ISO 8601 and reads the refusal.
      if (/list_events[^\n]*(?:YYYYMMDD|\\d\{8\})/.test(page)) return readNumber(yield* write("20260105", "20260111"));
      const text = yield* write("2026-01-05", "2026-01-11");
      if (!/YYYYMMDD|\\d\{8\}/.test(text)) return readNumber(text);
      return readNumber(yield* write("20260105", "20260111"));
    },
    *plain() {
      const args = { from: "20260105", to: "20260111", limit: 50 };
      const { events } = JSON.parse((yield [{ tool: "list_events", args }])[0]);
      return sum(events.map(({ minutes }) => minutes));
    },
  },
];

/** Runs a program; gives the text of its result. */
function* run(code) {
  return (yield [{ tool: "run_code", args: { code } }])[0];
}

/** The first line of an outcome is the value of its program. */
function readNumber(text) {
  return Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0]);
}
