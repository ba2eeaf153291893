// Twelve services with ten tools each. Records are made from the numbers of their fields, so that each start has the same ones.

const pick = (list) => (n) => list[n % list.length];
const number = (from, step, span) => (n) => from + ((n * step) % span);
const day = (n) => new Date(Date.UTC(2026, 0, 1 + ((n * 5) % 90))).toISOString().slice(0, 10);
const PEOPLE = ["mara", "joel", "ines", "otto", "yuki"];

/** A service: the thing that it keeps, the number of records, and how each field is made. */
export const SERVICES = {
  shop: {
    thing: "order",
    size: 90,
    fields: { status: pick(["completed", "open", "cancelled"]), total: number(10, 7, 40), customer: pick(PEOPLE) },
  },
  desk: {
    thing: "ticket",
    size: 60,
    fields: { status: pick(["open", "closed"]), assignee: pick(PEOPLE), hours: number(1, 3, 8) },
  },
  calendar: { thing: "event", size: 80, fields: { date: day, minutes: number(15, 15, 120), owner: pick(PEOPLE) } },
  crm: {
    thing: "account",
    size: 45,
    fields: {
      plan: pick(["free", "team", "business"]),
      seats: number(2, 5, 60),
      country: pick(["DE", "FR", "JP", "US"]),
    },
  },
  billing: {
    thing: "invoice",
    size: 70,
    fields: {
      status: pick(["paid", "due", "overdue"]),
      cents: number(900, 730, 20_000),
      account: (n) => `account-${1 + (n % 45)}`,
    },
  },
  stock: {
    thing: "article",
    size: 100,
    fields: { quantity: number(0, 13, 37), price: number(3, 11, 50), warehouse: pick(["north", "south"]) },
  },
  people: {
    thing: "employee",
    size: 40,
    fields: {
      team: pick(["sales", "build", "care"]),
      city: pick(["Oslo", "Rome", "Lima"]),
      days_off: number(0, 4, 28),
    },
  },
  deploys: {
    thing: "release",
    size: 50,
    fields: { service: pick(["api", "web", "worker"]), state: pick(["live", "failed", "rolled back"]), date: day },
  },
  library: {
    thing: "book",
    size: 65,
    fields: { author: pick(["Lem", "Woolf", "Borges"]), pages: number(90, 37, 600), lent_to: pick([null, ...PEOPLE]) },
  },
  sensors: {
    thing: "reading",
    size: 120,
    fields: { room: pick(["attic", "cellar", "lab"]), celsius: number(12, 5, 14), date: day },
  },
  mail: {
    thing: "message",
    size: 75,
    fields: {
      from: pick(PEOPLE),
      unread: (n) => n % 4 === 0,
      subject: pick(["Invoice", "Lunch", "Release", "Welcome"]),
    },
  },
  travel: {
    thing: "trip",
    size: 35,
    fields: { traveller: pick(PEOPLE), city: pick(["Oslo", "Rome", "Lima", "Cairo"]), cost: number(80, 97, 900) },
  },
};

/** The records with each value of a field, by the value as text. */
export function groupBy(records, field) {
  const groups = new Map();
  for (const record of records) {
    const key = String(record[field]);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return groups;
}

export function makeRecords({ thing, size, fields }) {
  return Array.from({ length: size }, (_, n) => ({
    id: `${thing}-${n + 1}`,
    ...Object.fromEntries(Object.entries(fields).map(([name, make]) => [name, make(n)])),
  }));
}

const text = (description) => ({ type: "string", ...(description !== undefined && { description }) });
const tool = (name, description, properties, required, run, annotations = { readOnlyHint: true }) => ({
  name,
  description,
  inputSchema: { type: "object", properties, required, additionalProperties: false },
  annotations,
  run,
});
const EFFECT = { readOnlyHint: false, destructiveHint: false };
const DESTRUCTIVE = { readOnlyHint: false, destructiveHint: true };

/** The ten tools of a service. Results are JSON in a text, apart from the export, which is lines of CSV. */
export function makeTools(service) {
  const { thing, fields } = SERVICES[service];
  const records = makeRecords(SERVICES[service]);
  const comments = new Map();
  const names = Object.keys(fields);
  const find = (id) => {
    const record = records.find((each) => each.id === id);
    if (record === undefined) throw new Error(`No ${thing} has the id ${id}`);
    return record;
  };
  const id = { id: text(`Id of the ${thing}, as ${thing}-1`) };
  const filter = { field: { enum: names }, value: text("The value of the field, as text") };
  const matching = ({ field, value }) =>
    records.filter((record) => field === undefined || String(record[field]) === value);
  const page = ({ page: number = 1, per_page: size = 10, ...by }) => {
    const found = matching(by);
    return {
      [`${thing}s`]: found.slice((number - 1) * size, number * size),
      next_page: number * size < found.length ? number + 1 : null,
    };
  };
  return [
    tool(
      `list_${thing}s`,
      `List ${thing}s, a page at a time, all or those with a value in a field`,
      {
        ...filter,
        page: { type: "integer", minimum: 1, default: 1 },
        per_page: { type: "integer", minimum: 1, maximum: 25, default: 10 },
      },
      [],
      page,
    ),
    tool(`get_${thing}`, `Get one ${thing} by its id`, id, ["id"], (args) => find(args.id)),
    tool(
      `count_${thing}s`,
      `Count the ${thing}s with each value of a field`,
      { field: { enum: names } },
      ["field"],
      ({ field }) => Object.fromEntries([...groupBy(records, field)].map(([key, some]) => [key, some.length])),
    ),
    tool(`describe_${thing}_fields`, `Describe the fields that a ${thing} has`, {}, [], () => ({ fields: names })),
    tool(`export_${thing}s`, `Export ${thing}s as lines of CSV, with a heading`, filter, [], (args) =>
      [
        ["id", ...names].join(","),
        ...matching(args).map((record) => ["id", ...names].map((name) => record[name]).join(",")),
      ].join("\n"),
    ),
    tool(
      `create_${thing}`,
      `Create a ${thing}; answers with its id`,
      { values: { type: "object", description: `Fields: ${names.join(", ")}` } },
      ["values"],
      ({ values }) => {
        const record = { id: `${thing}-${records.length + 1}`, ...values };
        records.push(record);
        return { id: record.id };
      },
      EFFECT,
    ),
    tool(
      `update_${thing}`,
      `Change fields of a ${thing}`,
      { ...id, values: { type: "object", description: `Fields: ${names.join(", ")}` } },
      ["id", "values"],
      (args) => Object.assign(find(args.id), args.values),
      EFFECT,
    ),
    tool(
      `delete_${thing}`,
      `Delete a ${thing}; this cannot be undone`,
      id,
      ["id"],
      (args) => {
        records.splice(records.indexOf(find(args.id)), 1);
        return { deleted: args.id };
      },
      DESTRUCTIVE,
    ),
    tool(`list_${thing}_comments`, `List the comments on a ${thing}`, id, ["id"], (args) => ({
      comments: comments.get(find(args.id).id) ?? [],
    })),
    tool(
      `add_${thing}_comment`,
      `Add a comment to a ${thing}`,
      { ...id, text: text() },
      ["id", "text"],
      (args) => {
        comments.set(find(args.id).id, [...(comments.get(args.id) ?? []), args.text]);
        return { comments: comments.get(args.id).length };
      },
      EFFECT,
    ),
  ];
}
