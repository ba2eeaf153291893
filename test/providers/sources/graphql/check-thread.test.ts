import { afterEach, expect, test } from "vitest";

import { UNKNOWN } from "../../../../src/model/plan.ts";
import { type CheckLimits, CheckThreads } from "../../../../src/providers/sources/graphql/check/check-threads.ts";
import {
  createCheckerWith,
  createQueryChecker,
  type QueryChecker,
} from "../../../../src/providers/sources/graphql/check/index.ts";
import { canProbe, LoopProbe, requireShortTurns } from "../../../support/loop-probe.ts";
import { TRACKER_SDL } from "./tracker-schema.ts";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

function openThreads(limits: Partial<CheckLimits> = {}): CheckThreads {
  const threads = new CheckThreads(limits);
  opened.push(threads);
  return threads;
}

function openChecker(threads = openThreads(), readSchema = (): string => TRACKER_SDL, name = "tracker"): QueryChecker {
  const checker = createCheckerWith(threads, { name, read: readSchema });
  opened.push(checker);
  return checker;
}

/** A text within the limits that takes some milliseconds: each field is compared with each other of its name. */
const SLOW_TEXT = `{ me { ${"id ".repeat(1_900)} } }`;

test("checks a text in a thread, and reads the schema once", async () => {
  let reads = 0;
  const checker = openChecker(undefined, () => (reads++, TRACKER_SDL));
  expect(reads).toBe(0);
  const text = "query($n: Int!) { issue(number: $n) { title } }";
  const checked = await checker.check("query", text);
  expect(checked).toMatchObject({ problems: [], fields: ["issue"], text: "query($n:Int!){issue(number:$n){title}}" });
  expect(await checker.check("query", text)).toBe(checked);
  expect((await checker.check("query", text, { n: "x" })).problems).toEqual([
    { message: '$n must be of type Int, not "x"', suggestions: [] },
  ]);
  expect(await checker.check("query", text, { n: 1 })).toBe(checked);
  expect(await checker.check("query", text, { n: UNKNOWN })).toBe(checked);
  expect((await checker.check("query", text, {})).problems).toHaveLength(1);
  expect((await checker.check("mutation", text)).problems).toHaveLength(1);
  expect(reads).toBe(1);
});

test("takes the bytes of a file as a value that is not known", async () => {
  const text = "mutation($file: Upload!, $n: CreateIssue!) { attach(file: $file) createIssue(input: $n) { id } }";
  const variables = { file: new Uint8Array(5_000_000), n: { title: "a", files: [new Uint8Array(3)] } };
  expect(await openChecker().check("mutation", text, variables)).toMatchObject({
    problems: [],
    uploads: [["file"], ["n", "files"]],
  });
});

test("serves the schemas of several APIs, and reads one again that it had no place for", async () => {
  const threads = openThreads({ schemas: 2 });
  const reads = [0, 0, 0];
  const checkers = reads.map((_count, at) =>
    openChecker(threads, () => {
      reads[at] = (reads[at] ?? 0) + 1;
      return `type Query { field${at}: Int }`;
    }),
  );
  for (const round of [1, 2])
    for (const [at, checker] of checkers.entries()) {
      const { problems, fields } = await checker.check("query", `{ field${at} } # ${round}`);
      expect([problems, fields]).toEqual([[], [`field${at}`]]);
    }
  expect(reads).toEqual([2, 2, 2]);
});

test("bounds the schemas by the lengths of their texts", async () => {
  const threads = openThreads({ schemaUnits: 100 });
  let reads = 0;
  const readSchema = (): string => (reads++, `type Query { a: Int } # ${"x".repeat(60)}`);
  const [one, other] = [openChecker(threads, readSchema), openChecker(threads, readSchema)];
  await one.check("query", "{ a }");
  await other.check("query", "{ a }");
  await other.check("query", "{ b: a }");
  await one.check("query", "{ b: a }");
  expect(reads).toBe(3);
});

test("refuses a text that takes too long, and checks the others in a new thread", { tags: "rest" }, async () => {
  const threads = openThreads({ checkMs: 2, loadMs: 20_000 });
  const checker = openChecker(threads);
  await checker.check("query", "{ me { id } }");
  const slow = checker.check("query", SLOW_TEXT);
  const others = ["{ me { name } }", "{ me { login } }"].map(async (text) => checker.check("query", text));
  await expect(slow).rejects.toMatchObject({
    code: "QUERY_UNCHECKED",
    message: expect.stringContaining("it takes more than 2 ms") as string,
  });
  // The schema is loaded again with the first of them.
  await expect(others[0]).resolves.toMatchObject({ problems: [] });
  await Promise.allSettled(others);
});

test("refuses the texts of a source that have ended the thread too often, and checks those of others", async () => {
  const threads = openThreads({ checkMs: 2, maxEnds: 2 });
  const hostile = openChecker(threads, undefined, "hostile");
  const other = openChecker(threads, undefined, "other");
  const refusal =
    'texts of the source "hostile" have ended the thread that checks them 2 times; they are checked again in 5 minutes';
  for (let at = 0; at < 2; at++) {
    await hostile.check("query", `{ me { id } } # ${at}`);
    await expect(hostile.check("query", SLOW_TEXT)).rejects.toThrow("it takes more than 2 ms");
  }
  await expect(hostile.check("query", "{ me { name } }")).rejects.toMatchObject({
    code: "QUERY_UNCHECKED",
    message: expect.stringContaining(refusal) as string,
  });
  await expect(other.check("query", "{ me { id } }")).resolves.toMatchObject({ problems: [] });
});

test("refuses the texts that wait behind the one that has ended the thread once too often", async () => {
  const threads = openThreads({ checkMs: 2, maxEnds: 1 });
  const hostile = openChecker(threads, undefined, "hostile");
  const other = openChecker(threads, undefined, "other");
  await hostile.check("query", "{ me { id } }");
  const checks = [hostile.check("query", SLOW_TEXT), hostile.check("query", "{ me { name } }")];
  const others = other.check("query", "{ me { id } }");
  const ends = await Promise.allSettled(checks);
  expect(ends.map((end) => end.status === "rejected" && String(end.reason))).toEqual([
    expect.stringContaining("it takes more than 2 ms"),
    expect.stringContaining('texts of the source "hostile"'),
  ]);
  await expect(others).resolves.toMatchObject({ problems: [] });
});

test("starts a thread a bounded number of times that never gets ready", async () => {
  const threads = openThreads({ maxEnds: 2, startMs: 1 });
  await expect(openChecker(threads).check("query", "{ me { id } }")).rejects.toThrow(
    "the thread that checks texts could not start 2 times; it starts again in 5 minutes",
  );
});

test("refuses texts when too many wait", async () => {
  const checker = openChecker(openThreads({ waitingUnits: 100 }));
  const first = checker.check("query", `{ me { id } } # ${"x".repeat(60)}`);
  await expect(checker.check("query", `{ me { id } } # ${"y".repeat(60)}`)).rejects.toMatchObject({
    code: "QUERY_UNCHECKED",
    message: expect.stringContaining("too many texts wait") as string,
  });
  await expect(first).resolves.toMatchObject({ problems: [] });
});

test("says what is wrong with a schema that cannot be read", async () => {
  const threads = openThreads();
  const broken = openChecker(threads, () => "type Query { a: Missing }");
  await expect(broken.check("query", "{ a }")).rejects.toMatchObject({
    code: "QUERY_UNCHECKED",
    message: expect.stringContaining("Missing") as string,
  });
  const missing = openChecker(threads, () => {
    throw new Error("the catalog is gone");
  });
  await expect(missing.check("query", "{ a }")).rejects.toThrow("the catalog is gone");
  await expect(openChecker(threads).check("query", "{ me { id } }")).resolves.toMatchObject({ problems: [] });
});

test("ends the thread when it is idle, and starts it again", { tags: "rest" }, async () => {
  const threads = openThreads({ idleMs: 1, maxEnds: 2 });
  const checker = openChecker(threads);
  for (let at = 0; at < 5; at++) {
    await checker.check("query", `{ me { id } } # ${at}`);
    await expect.poll(() => threads.isRunning).toBe(false);
  }
});

test("rejects the checks of a checker that is closed, and keeps those of others", async () => {
  const threads = openThreads();
  const [one, other] = [openChecker(threads), openChecker(threads)];
  const waiting = one.check("query", "{ me { id } }");
  const kept = other.check("query", "{ me { id } }");
  await one.close();
  await expect(waiting).rejects.toMatchObject({ code: "QUERY_UNCHECKED" });
  await expect(one.check("query", "{ me { id } }")).rejects.toMatchObject({ code: "QUERY_UNCHECKED" });
  await expect(kept).resolves.toMatchObject({ problems: [] });
});

test("shares one thread among all checkers of the process", async () => {
  const checkers = [TRACKER_SDL, "type Query { a: Int }"].map((sdl, at) =>
    createQueryChecker({ name: `api${at}`, read: () => sdl }),
  );
  opened.push(...checkers);
  expect(
    await Promise.all(checkers.map(async (each, at) => each.check("query", at === 0 ? "{ me { id } }" : "{ a }"))),
  ).toMatchObject([{ problems: [] }, { problems: [] }]);
  await checkers[0]?.close();
  await checkers[0]?.close();
  await expect(checkers[1]?.check("query", "{ b: a }")).resolves.toMatchObject({ problems: [] });
});

const list = (count: number, write: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => write(at)).join(" ");

/** Texts and schemas that are made to take long. */
const HOSTILE: readonly string[] = [
  "{".repeat(60_000),
  `{ search(meta: ${"[".repeat(60_000)}`,
  `{ me { ${list(10_000, (at) => `a${at}:id`)} } }`,
  SLOW_TEXT,
  `{ me { ...F0 } } ${list(600, (at) => `fragment F${at} on User { ...F${at + 1} ...F${at + 1} }`)} fragment F600 on User { id }`,
  `{ me { ...F0 } } ${list(40, (at) => `fragment F${at} on User { ${list(40, (to) => `...F${to}`)} }`)}`,
  `{ ${list(150, (at) => `issues(first: ${at}) { nodes { id } }`)} }`,
  `{ me ${list(3_000, () => "@skip(if: true)")} { id } }`,
  `query(${list(1_500, (at) => `$v${at}: Int`)}) { me { id } }`,
  `{ ${list(3_000, (at) => `unknown${at}`)} }`,
  `{ me { ${"__proto__ constructor ".repeat(500)} } }`,
  `{ __schema { types { ${"fields { type { ".repeat(40)}name${" } }".repeat(40)} } } }`,
  `{ search(meta: "${"\\u202e".repeat(9_000)}") { __typename } }`,
];

test.skipIf(!canProbe)(
  "lets hostile texts and schemas stop the thread of the host for no more than 50 ms",
  { tags: "rest", timeout: 60_000 },
  async () => {
    const threads = openThreads();
    const wide = `type Query { ${list(10_000, (at) => `field${at}(a: Int): Query`)} }`;
    const checkers = [openChecker(threads), openChecker(threads, () => wide)];
    await Promise.all(checkers.map(async (each) => each.check("query", "{ __typename }")));
    const probe = new LoopProbe();
    try {
      await requireShortTurns(probe, async () => {
        const checks = HOSTILE.flatMap((text) =>
          checkers.map(async (each) => {
            const { problems } = await each.check("query", `${text} # ${Math.random()}`);
            return problems.length;
          }),
        );
        const counts = await Promise.all(checks);
        expect(counts.every((count) => count <= 20)).toBe(true);
      });
    } finally {
      probe.close();
    }
  },
);
