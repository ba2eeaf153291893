// Eighteen tasks over the world. `check` gets the last text of the model and a function that calls a tool, and returns true if the
// task is done right.

import { groupBy, makeRecords, SERVICES } from "./world.mjs";

const world = Object.fromEntries(Object.entries(SERVICES).map(([name, service]) => [name, makeRecords(service)]));
const { shop, desk, calendar, crm, billing, stock, people, deploys, library, sensors, mail, travel } = world;
const total = (records, field) => records.reduce((sum, record) => sum + record[field], 0);
const by = (field, value) => (record) => record[field] === value;

/** True if an answer contains a number, also with separators of thousands, and not as a part of another. */
function hasNumber(answer, number) {
  return new RegExp(String.raw`(?<![\d.])${number}(?![\d]|\.\d*[1-9])`).test(
    answer.replaceAll(/(?<=\d),(?=\d{3}(?!\d))/g, ""),
  );
}

const asksNumber = (name, request, number) => ({ name, request, check: (answer) => hasNumber(answer, number) });
const asksWord = (name, request, word) => ({ name, request, check: (answer) => answer.includes(word) });

const busiest = [...groupBy(desk.filter(by("status", "open")), "assignee")]
  .map(([assignee, tickets]) => [assignee, total(tickets, "hours")])
  .toSorted(([, a], [, b]) => b - a)[0][0];
const longest = library.toSorted((a, b) => b.pages - a.pages)[0];
const business = new Set(crm.filter(by("plan", "business")).map(({ id }) => id));

export const TASKS = [
  asksNumber(
    "sum over pages",
    "What is the sum of the totals of all completed orders in the shop?",
    total(shop.filter(by("status", "completed")), "total"),
  ),
  asksNumber("count", "How many tickets on the desk are closed?", desk.filter(by("status", "closed")).length),
  asksWord("maximum of groups", "Who has the most hours in open tickets on the desk? Answer with the name.", busiest),
  asksNumber(
    "span of days",
    "How many minutes do the events in the calendar from 2026-02-01 to 2026-02-14 take together, both days included?",
    total(
      calendar.filter(({ date }) => date >= "2026-02-01" && date <= "2026-02-14"),
      "minutes",
    ),
  ),
  asksNumber(
    "two conditions",
    "How many seats do the team plans of accounts in Japan (JP) have together?",
    total(
      crm.filter(({ plan, country }) => plan === "team" && country === "JP"),
      "seats",
    ),
  ),
  asksNumber(
    "join",
    "How many cents of overdue invoices belong to accounts with the plan business?",
    total(
      billing.filter(({ status, account }) => status === "overdue" && business.has(account)),
      "cents",
    ),
  ),
  asksNumber(
    "product",
    "What is all stock in the warehouse north worth, quantity times price?",
    stock.filter(by("warehouse", "north")).reduce((sum, { quantity, price }) => sum + quantity * price, 0),
  ),
  asksNumber(
    "mean",
    "What is the mean of the days off of the employees of the team care, rounded to a whole number?",
    Math.round(total(people.filter(by("team", "care")), "days_off") / people.filter(by("team", "care")).length),
  ),
  asksNumber(
    "grouped count",
    "How many releases of the service api failed?",
    deploys.filter(({ service, state }) => service === "api" && state === "failed").length,
  ),
  asksWord("maximum", "Which book has the most pages? Answer with its id.", longest.id),
  asksNumber(
    "range",
    "What is the difference between the highest and the lowest temperature in the cellar, in degrees?",
    ((temperatures) => Math.max(...temperatures) - Math.min(...temperatures))(
      sensors.filter(by("room", "cellar")).map(({ celsius }) => celsius),
    ),
  ),
  asksNumber(
    "booleans",
    "How many unread messages came from joel?",
    mail.filter(({ from, unread }) => from === "joel" && unread).length,
  ),
  asksNumber(
    "three services",
    "Add the cost of the trips of yuki, the hours of the tickets of yuki and the totals of the orders of yuki.",
    total(travel.filter(by("traveller", "yuki")), "cost") +
      total(desk.filter(by("assignee", "yuki")), "hours") +
      total(shop.filter(by("customer", "yuki")), "total"),
  ),
  asksNumber("one record", "How many seats does account-17 have?", crm[16].seats),
  {
    name: "one effect",
    request: 'Add the comment "call back" to ticket-7.',
    check: async (_answer, call) =>
      JSON.stringify(await call("desk", "list_ticket_comments", { id: "ticket-7" })).includes("call back"),
  },
  {
    name: "several effects",
    request: "Close all open tickets of mara on the desk: set their status to closed.",
    check: async (_answer, call) => {
      const counts = await Promise.all(
        desk.filter(by("assignee", "mara")).map(({ id }) => call("desk", "get_ticket", { id })),
      );
      return counts.every(({ status }) => status === "closed");
    },
  },
  {
    name: "create from a calculation",
    request:
      "Create an invoice for account-3 that is due, with the sum of the cents of its overdue invoices, or 100 cents if it has none.",
    check: async (_answer, call) => {
      const cents =
        total(
          billing.filter(({ account, status }) => account === "account-3" && status === "overdue"),
          "cents",
        ) || 100;
      const made = await call("billing", "get_invoice", { id: `invoice-${billing.length + 1}` });
      return made.cents === cents && made.account === "account-3" && made.status === "due";
    },
  },
  {
    name: "deletion",
    request: "Delete the cheapest trip to Cairo.",
    check: async (_answer, call) => {
      const cheapest = travel.filter(by("city", "Cairo")).toSorted((a, b) => a.cost - b.cost)[0];
      const { Cairo } = await call("travel", "count_trips", { field: "city" });
      const left = await call("travel", "list_trips", { field: "city", value: "Cairo", per_page: 25 });
      return (
        Cairo === travel.filter(by("city", "Cairo")).length - 1 && !left.trips.some(({ id }) => id === cheapest.id)
      );
    },
  },
];
