import { expect, test } from "vitest";

import { type Decision, openShop, parseSteps, readDecisions, writeFirst, writeNext } from "./history.ts";

const shop = await openShop();

/** Title, calls of the first run with their ends, calls of the corrected program with what becomes of each. */
type Case = readonly [title: string, before: string, after: string, answers?: Answers];

interface Answers {
  readonly again?: readonly number[];
  readonly reuse?: readonly number[];
}

const CASES: readonly Case[] = [
  ["the same beginning, another end", "inbox, send a, send b fail", "inbox reuse, send a reuse, send b live"],
  ["polls until it is done", "start, status, status", "start reuse, status reuse, status reuse, status live"],
  ["does not repeat the first read", "read f, write f, read f", "write f reuse, read f live"],
  ["begins with a new read", "send a, send b fail", "who live, send a reuse, send b live"],
  ["depends on a read that is never the same", "uuid, create 1, bad fail", "uuid reuse, create 1 reuse, good live"],
  ["has only what is left", "key down, key down, key enter fail", "key enter ask"],
  ["does the same twice, from the start", "key down, key down, save fail", "key down reuse, key down reuse, save live"],
  ["does one more of the same", "key down, x fail", "key down reuse, key down live"],
  ["orders with other arguments", "order 10, pay fail", "order 11 ask"],
  ["repeats a call whose end is not known", "order 10 silent", "order 10 ask"],
  ["reads again what failed", "read x fail, write y", "read x live, write y reuse"],
  ["exchanges two effects", "send a, send b, x fail", "send b reuse, send a reuse, x 1 live"],

  ["is the same as before", "inbox, send a, x fail", "inbox reuse, send a reuse, x live"],
  ["makes fewer calls", "send a, send b, x fail", "send a reuse"],
  ["makes no call with an effect", "inbox, send a, x fail", "status live"],
  ["repeats only the last effect", "send a, send b, x fail", "send b reuse"],
  ["repeats a failure", "send a fail, write b", "send a live, write b reuse"],
  ["repeats a failure that another call of the method followed", "send a fail, send b", "send a ask"],
  ["repeats such a failure on purpose", "send a fail, send b", "send a live, send b reuse", { reuse: [2] }],
  ["repeats two failures", "send a fail, send b fail, pay", "send a live, send b live, pay reuse"],
  ["reads once more in the middle", "send a, send b, x fail", "send a reuse, read n live, send b reuse, x live"],
  ["reads other arguments", "read a, send a, x fail", "read b live, send a reuse, x live"],
  ["reads after an effect", "send a, read a, x fail", "send a reuse, read a reuse, x live"],
  ["leaves a read out", "read a, read b, send a, x fail", "read b live, send a reuse, x live"],
  ["exchanges two reads", "read a, read b, send a", "read b live, read a live, send a reuse"],
  ["does other work first", "send a, x fail", "pay live, send a reuse, x live"],
  ["continues a list", "send a, send b, send c fail", "send a reuse, send b reuse, send c live, send d live"],
  ["continues the rest of a list", "send a, send b, send c fail", "send c ask"],
  ["sends to somebody else first", "send a, x fail", "send b ask"],
  ["makes a third of two that are the same", "key d, key d, x fail", "key d reuse, key d reuse, key d live"],
  ["has two that are the same after a difference", "key d, key d, x fail", "who live, key d ask"],
  ["has one of the same after a difference", "key d, x fail", "who live, key d reuse, key d live"],
  [
    "uses one of two in the beginning",
    "key d, who, key d, x fail",
    "key d reuse, read n live, key d reuse, key d live",
  ],
  [
    "orders more after a difference",
    "order 1, order 2, x fail",
    "who live, order 1 reuse, order 2 reuse, order 3 live",
  ],
  ["orders something new before the rest", "order 1, order 2, x fail", "who live, order 1 reuse, order 3 ask"],
  ["writes to another place", "write a, write b fail", "write a reuse, write c live"],
  ["meets an unknown end of another call", "order 1, order 2 silent", "order 1 reuse, order 3 ask"],
  ["meets an unknown end after the same effect", "pay 1, order 2 silent", "pay 1 reuse, order 2 ask"],
  ["avoids the unknown end", "pay 1, order 2 silent", "pay 1 reuse, send a live"],
  ["repeats an idempotent call with an unknown end", "pay 1, set v silent", "pay 1 reuse, set v live"],
  ["repeats an idempotent call that ended", "set v, x fail", "who live, set v reuse"],
  ["sets another value", "set v, x fail", "who live, set w ask"],

  ["may do it again", "order 10, pay fail", "order 11 live, pay live", { again: [1] }],
  [
    "counts a call as made, and makes another one",
    "order 10, pay fail",
    "order 11 live, order 10 reuse",
    { reuse: [1] },
  ],
  ["may repeat the beginning", "order 10, pay fail", "order 10 live, pay live", { again: [1] }],
  ["takes the first of two", "key d, key d, x fail", "who live, key d reuse, key d reuse, key d live", { reuse: [1] }],
  ["takes both of two", "key d, key d, x fail", "who live, key d reuse, key d reuse, x live", { reuse: [1, 2] }],
  ["forgets both of two", "key d, key d, x fail", "who live, key d live, key d live", { again: [1, 2] }],
  ["forgets one of two", "key d, key d, x fail", "who live, key d reuse, key d live", { again: [1] }],
  ["makes a call with an unknown end again", "order 10 silent", "order 10 live, order 10 live", { again: [1] }],
  ["counts a call with an unknown end as made", "order 10 silent", "order 10 reuse, order 10 live", { reuse: [1] }],
  ["passes an unknown end that counts as made", "order 10 silent", "order 11 live, order 10 reuse", { reuse: [1] }],
  ["answers one of two doubts", "order 1, order 2, x fail", "order 3 ask", { again: [1] }],
];

const NAMED_CASES = CASES.map(([title, ...history]) => ({ title, history }));

test.each(NAMED_CASES)("$title [R4]", async ({ history: [before, after, answers = {}] }) => {
  const { runtime } = shop;
  const steps = parseSteps(before);
  shop.plan(steps);
  const first = await runtime.run(writeFirst(steps));
  if (first.kind !== "failed" || first.continue === undefined) throw new Error(first.text);
  shop.plan([]);
  const wanted = after.split(",").map((part) => part.trim().split(" ").at(-1) as Decision);
  const next = parseSteps(after.replaceAll(/ (?:reuse|live|ask)\b/g, ""));
  const outcome = await runtime.run(writeNext(next), { continue: first.continue, ...answers });
  expect(readDecisions(outcome)).toEqual(wanted);
});

test("has the twelve histories of the rule and thirty more [R4]", () => {
  expect(CASES.length).toBeGreaterThanOrEqual(42);
  expect(new Set(CASES.map(([title]) => title)).size).toBe(CASES.length);
});
