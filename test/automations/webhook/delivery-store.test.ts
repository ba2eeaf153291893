import { expect, onTestFinished, test } from "vitest";

import { createDeliveryStore } from "../../../src/runtime/automations/delivery-store.ts";
import { createRunInput } from "../../../src/shared/json/run-input.ts";
import { type AutomationTable, type Database, openDatabase } from "../../../src/store/index.ts";

/** Opens a database in memory that has the automation `orders`. */
async function openOrders(): Promise<Database> {
  const database = await openDatabase({});
  onTestFinished(() => database.close());
  const times = { failures: 0, lastSlot: null, created: 0, updated: 0 };
  const row = { name: "orders", state: "enabled", reason: null, digest: null, by: "owner", ...times } as const;
  await database.automations.put(row, { text: "", methods: {}, caller: "key:a" });
  return database;
}

/** Opens a delivery store on a database in memory that counts the calls of its tables. */
async function openStore(most = 10_000) {
  const database = await openOrders();
  const calls: string[] = [];
  const dispatched: string[] = [];
  const automations = new Proxy(database.automations, {
    get(table, name: keyof AutomationTable) {
      return (...args: never[]) => {
        calls.push(name);
        return (table[name] as (...all: never[]) => unknown)(...args);
      };
    },
  });
  const limits = { most };
  const store = createDeliveryStore({
    open: async () => ({ automations }),
    getMost: () => limits.most,
    dispatch: (automation) => void dispatched.push(automation),
  });
  const add = (id: number | string, automation = "orders") =>
    store.add({ automation, delivery: String(id), input: createRunInput({ id }, true) });
  const takeCalls = (): readonly string[] => calls.splice(0);
  return { database, add, takeCalls, dispatched, limits };
}

test("commits 1,000 deliveries that arrive together in ten transactions, and begins them once for each", async () => {
  const { database, add, takeCalls, dispatched } = await openStore();
  const results = await Promise.all(Array.from({ length: 1_000 }, (_, n) => add(n)));
  expect(new Set(results)).toEqual(new Set(["new"]));
  const calls = takeCalls();
  expect(calls.filter((name) => name === "addDeliveries")).toHaveLength(10);
  expect(calls.filter((name) => name === "countOccurrences")).toHaveLength(10);
  await new Promise(setImmediate);
  expect(dispatched).toHaveLength(10);
  expect(await database.automations.countOccurrences({ state: "due" })).toBe(1_000);
  expect(await database.automations.getInput("orders", "999")).toBe('{"id":999}');
});

test("counts the deliveries that wait once for a hundred that come one by one", async () => {
  const { add, takeCalls } = await openStore();
  for (let n = 0; n < 300; n++) await add(n);
  const calls = takeCalls();
  expect(calls.filter((name) => name === "addDeliveries")).toHaveLength(300);
  expect(calls.filter((name) => name === "countOccurrences")).toHaveLength(3);
});

test("stores a delivery once that arrives twice at a time, and does not count the second one", async () => {
  const { add } = await openStore(2);
  expect(await Promise.all([add(1), add(1), add(2), add(3)])).toEqual(["new", "repeated", "new", "full"]);
  expect(await Promise.all([add(2), add(4)])).toEqual(["repeated", "full"]);
});

test("takes more when deliveries have begun, and none when its limit falls", async () => {
  const { database, add, limits } = await openStore(2);
  expect([await add(1), await add(2), await add(3)]).toEqual(["new", "new", "full"]);
  await database.automations.updateOccurrence({ automation: "orders", id: "1" }, {}, { state: "completed" });
  expect([await add(3), await add(4)]).toEqual(["new", "full"]);
  limits.most = 1;
  expect(await add(5)).toBe("full");
});

test("refuses all deliveries of a commit that fails, and stores those that follow", async () => {
  const database = await openOrders();
  let failures = 1;
  const store = createDeliveryStore({
    open: async () => {
      if (failures-- > 0) throw new Error("the disk is full");
      return database;
    },
    getMost: () => 100,
    dispatch: () => {},
  });
  const add = (delivery: string) => store.add({ automation: "orders", delivery, input: createRunInput(1, true) });
  const results = await Promise.allSettled([add("a"), add("b")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await add("a")).toBe("new");
});

test("commits large deliveries in smaller batches", async () => {
  const { add, takeCalls } = await openStore();
  const text = "x".repeat(1 << 20);
  await Promise.all(Array.from({ length: 5 }, (_, n) => add(`${n}${text.slice(0, 9)}`)));
  expect(takeCalls().filter((name) => name === "addDeliveries")).toHaveLength(1);
  const large = await openStore();
  const store = createDeliveryStore({
    open: async () => ({ automations: large.database.automations }),
    getMost: () => 100,
    dispatch: (automation) => void large.dispatched.push(automation),
  });
  const input = createRunInput(text, true);
  await Promise.all([1, 2, 3, 4, 5].map((n) => store.add({ automation: "orders", delivery: String(n), input })));
  await new Promise(setImmediate);
  expect(large.dispatched).toHaveLength(5);
});
