import type { Context } from "hono";

import type { RuntimeView } from "../../../runtime/api/view.ts";
import { withoutGaps } from "../../../shared/json/without-gaps.ts";
import { readNumber, readTime } from "../endpoints.ts";
import { RECORDED_RUN_STATES, RUN_SORT_COLUMNS } from "../program-messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleEnvironment } from "../services.ts";

const MAX_FILTER_UNITS = 200;
const MAX_HOURS = 100_000;
const HOUR_MS = 3_600_000;

type RunListFilter = NonNullable<Parameters<RuntimeView["runs"]["neighbours"]>[1]>;

/** Reads the filter and the order of a list of runs from the query of a request; throws `REQUEST_INVALID`. */
export function readRunFilter(c: Context<ConsoleEnvironment>): RunListFilter {
  const hours = readNumber(c, "hours", { fallback: 0, max: MAX_HOURS });
  const since = hours > 0 ? Date.now() - hours * HOUR_MS : readTime(c, "since");
  return withoutGaps({
    withUnrecorded: c.req.query("recorded") === undefined,
    ascending: c.req.query("order") === "up",
    order: readListed(c, "sort", RUN_SORT_COLUMNS)?.[0],
    since,
    until: readTime(c, "until"),
    minDuration: readNumber(c, "min", { fallback: 0 }) || undefined,
    state: readListed(c, "state", RECORDED_RUN_STATES),
    runCaller: readWords(c, "caller"),
    title: readWords(c, "text"),
    method: readWords(c, "method"),
    program: readWords(c, "program"),
  });
}

/** Reads words between commas, of which each must be in a list. */
function readListed<Word extends string>(
  c: Context<ConsoleEnvironment>,
  name: string,
  words: readonly Word[],
): readonly Word[] | undefined {
  const text = c.req.query(name);
  if (text === undefined) return undefined;
  return text.split(",").map((each) => {
    const word = words.find((allowed) => allowed === each);
    if (word === undefined) throw invalidRequest(`${name} must be one of ${words.join(", ")}`);
    return word;
  });
}

function readWords(c: Context<ConsoleEnvironment>, name: string): string | undefined {
  const text = c.req.query(name);
  if (text !== undefined && text.length > MAX_FILTER_UNITS)
    throw invalidRequest(`${name} must have at most ${MAX_FILTER_UNITS} characters`);
  return text === "" ? undefined : text;
}
