import { afterAll, describe, expect, test } from "vitest";

import { LocaleFormats } from "../../sandbox/worker/locale-formats.ts";
import { DATE_OPTIONS, NUMBER_OPTIONS, type OptionValues } from "../../sandbox/guest/web/locale-options.ts";
import { createRuntime } from "../../src/index.ts";
import { takeShare } from "../support/repetitions.ts";

const runtime = await createRuntime({ skillsDir: false, discover: false, typecheck: false });
afterAll(() => runtime.close());

async function evaluate(code: string): Promise<unknown> {
  const outcome = await runtime.run(code);
  if (outcome.kind !== "completed") throw new Error(outcome.text);
  return outcome.value;
}

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const TEXTS: Readonly<Record<string, readonly string[]>> = {
  timeZone: ["UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin", "Asia/Kolkata"],
  currency: ["USD", "EUR", "JPY", "gbp"],
  unit: ["kilometer", "liter", "kilometer-per-hour", "percent"],
};
const LOCALES = [undefined, "en", "en-US", "en-GB", "en-AU", ["en-CA", "de"], []];

function pickOptions(table: Readonly<Record<string, OptionValues>>, random: (below: number) => number) {
  const names = Object.keys(table).filter(() => random(5) === 0);
  return Object.fromEntries(names.map((name) => [name, pickValue(name, table[name] ?? [], random)]));
}

function pickValue(name: string, values: OptionValues, random: (below: number) => number): unknown {
  if (values === "boolean") return random(2) === 1;
  const list = values instanceof RegExp ? (TEXTS[name] ?? []) : values;
  const [least, most] = list;
  if (typeof least === "number") return least + random(Number(most) - least + 1);
  return list[random(list.length)];
}

/** Formats values as each of these does, or says which error it throws. */
const FORMAT = `(kind, value, locales, options) => {
  try {
    switch (kind) {
      case 0: return new Date(value).toLocaleString(locales, options);
      case 1: return new Date(value).toLocaleDateString(locales, options);
      case 2: return new Date(value).toLocaleTimeString(locales, options);
      case 3: return new Intl.DateTimeFormat(locales, options).format(new Date(value));
      case 4: return JSON.stringify(Intl.DateTimeFormat(locales, options).formatToParts(value));
      case 5: return value.toLocaleString(locales, options);
      case 6: return new Intl.NumberFormat(locales, options).format(value);
      case 7: return JSON.stringify(new Intl.NumberFormat(locales, options).formatToParts(value));
      case 8: return BigInt(Math.trunc(value)).toLocaleString(locales, options);
      default: return JSON.stringify(Intl.NumberFormat(locales, options).resolvedOptions());
    }
  } catch (error) {
    return error.name;
  }
}`;

test.each(takeShare(4, [1, 2, 3, 4]))(
  "formats as Node does, with any options, from seed %i [S4]",
  { tags: "repeated" },
  async (seed) => {
    const random = createRandom(seed);
    const cases = Array.from({ length: 250 }, () => {
      const kind = random(10);
      const options = kind < 5 ? pickOptions(DATE_OPTIONS, random) : pickOptions(NUMBER_OPTIONS, random);
      const value = kind < 5 ? random(2 ** 31) * 1_000 : [0, -1.5, 1234.567, 1e21, 0.000_12, random(1e9)][random(6)];
      return [kind, value, LOCALES[random(LOCALES.length)] ?? "none", random(8) === 0 ? "none" : options] as const;
    });
    const format = `const cases = ${JSON.stringify(cases)};
const format = ${FORMAT};
cases.map(([kind, value, locales, options]) =>
  format(kind, value, locales === "none" ? undefined : locales, options === "none" ? undefined : options))`;
    // oxlint-disable-next-line no-new-func, no-implied-eval -- the same code in both engines
    const formatHere = new Function(`return ${FORMAT}`)() as (...args: readonly unknown[]) => string;
    const expected = cases.map(([kind, value, locales, options]) => {
      const given = options === "none" ? {} : options;
      const inUtc = kind < 5 ? { timeZone: "UTC", ...given } : given;
      return formatHere(kind, value, locales === "none" || locales.length === 0 ? "en-US" : locales, inUtc);
    });
    const found = (await evaluate(format)) as readonly string[];
    expect(found.map((text, at) => [cases[at], text])).toEqual(expected.map((text, at) => [cases[at], text]));
  },
);

/** The characters of ASCII that a program may contain, letters in both cases, digits, and letters of other languages. */
const ALPHABETS = [
  Array.from({ length: 127 }, (_, code) => String.fromCharCode(code)),
  Array.from("aAbBzZ -_09./"),
  Array.from("0129ax."),
  Array.from("aeäöéßÅøñzZ中日Яя\u0301\u0308\u00b7l👍\u0000"),
  Array.from({ length: 400 }, (_, at) => String.fromCharCode(0xc0 + at)),
  Array.from("aAeEéÉéñlL\u0301\u0338\u0344\u0345\u0363ḱ,' -"),
];

const COLLATIONS = [
  [],
  ["en"],
  ["sv"],
  ["de", { sensitivity: "base" }],
  ["en", { sensitivity: "base" }],
  ["en-US", { sensitivity: "case" }],
  ["en-GB", { numeric: true, caseFirst: "upper" }],
  ["xx", { ignorePunctuation: true, sensitivity: "accent" }],
] as const;

test.each(takeShare(4, [1, 2, 3, 4]))(
  "compares texts as Node does, in any language, from seed %i [S4]",
  { tags: "repeated" },
  async (seed) => {
    const random = createRandom(seed);
    const text = (alphabet: readonly string[]): string =>
      Array.from({ length: random(6) }, () => alphabet[random(alphabet.length)]).join("");
    const cases = Array.from({ length: 1_000 }, (_, at) => {
      const alphabet = ALPHABETS[at % ALPHABETS.length] ?? [];
      const start = text(alphabet);
      const collation = random(2) === 0 ? 0 : random(COLLATIONS.length);
      return [start + text(alphabet), start + text(alphabet), COLLATIONS[collation] ?? []] as const;
    });
    const expected = cases.map(([left, right, [locale = "en-US", options]]) =>
      left.localeCompare(right, [locale, "en-US"], options),
    );
    const code = `const cases = ${JSON.stringify(cases)};
cases.map(([left, right, [locale, options]], at) =>
  at % 2 === 0 ? left.localeCompare(right, locale, options) : new Intl.Collator(locale, options).compare(left, right))`;
    const found = (await evaluate(code)) as readonly number[];
    expect(found.map((order, at) => [cases[at], order])).toEqual(expected.map((order, at) => [cases[at], order]));
  },
);

test("sorts words as readers expect, and long texts by their beginnings [S4]", async () => {
  const code = `const words = ["zebra", "Äpfel", "apple", "Banana", "item 10", "item 9", "résumé", "resume"];
const long = (end) => "é".repeat(500) + end;
[
  words.toSorted((a, b) => a.localeCompare(b)),
  words.toSorted(Intl.Collator("en", { numeric: true }).compare).slice(3, 5),
  ["b", "a"].map((end) => long(end).localeCompare(long("b"))),
  [long("").localeCompare(long("")), "a".localeCompare(), "null".localeCompare(null)],
  new Intl.Collator("en", { numeric: 1 }).resolvedOptions().numeric,
]`;
  expect(await evaluate(code)).toEqual([
    ["Äpfel", "apple", "Banana", "item 10", "item 9", "resume", "résumé", "zebra"],
    ["item 9", "item 10"],
    [0, -1],
    [0, -1, 0],
    true,
  ]);
});

test("the zone is UTC unless the program names one, like that of the clock [S4]", async () => {
  const code = `const at = new Date(0);
[at.toLocaleString("en-GB"), at.toLocaleString("en-GB", { timeZone: "Asia/Tokyo" }), Intl.DateTimeFormat().resolvedOptions().timeZone, at.getHours()]`;
  expect(await evaluate(code)).toEqual(["01/01/1970, 00:00:00", "01/01/1970, 09:00:00", "UTC", 0]);
});

test("lists pass locales and options to their items [S4]", async () => {
  const code = `const cents = { minimumFractionDigits: 2 };
[[1234, null, [5, new Date(0)], undefined].toLocaleString("en-GB", { timeZone: "UTC" }), [0.5].toLocaleString("en", cents),
  new Float64Array([1, 2000]).toLocaleString("default", cents), [].toLocaleString(), [1, "b", true].toLocaleString()]`;
  const expected = ["1,234,,5,01/01/1970, 00:00:00,", "0.50", "1.00,2,000.00", "", "1,b,true"];
  expect(await evaluate(code)).toEqual(expected);
  const french = await runtime.run('[1.5].toLocaleString("fr")');
  expect(french).toMatchObject({
    kind: "failed",
    error: { message: expect.stringContaining('the locale "fr"') as string },
  });
});

test("formats are instances, and their methods may be passed on [S4]", async () => {
  const code = `const format = new Intl.NumberFormat("en-US");
[format instanceof Intl.NumberFormat, [1000, 2000].map(format.format), Intl.NumberFormat.supportedLocalesOf(["en-GB"]), new Date(NaN).toLocaleString()]`;
  expect(await evaluate(code)).toEqual([true, ["1,000", "2,000"], ["en-GB"], "Invalid Date"]);
});

describe("refuses what it cannot format, and says what to write", () => {
  test.each([
    [
      'new Date(0).toLocaleDateString("de-DE")',
      'RangeError: Cannot format for the locale "de-DE": only English is here, as en, en-US or en-GB; build the text yourself',
    ],
    [
      '(1).toLocaleString(["fr", "en"])',
      'RangeError: Cannot format for the locale "fr": only English is here, as en, en-US or en-GB; build the text yourself',
    ],
    [
      'new Date(0).toLocaleDateString("en", { weekday: "lang" })',
      'RangeError: Cannot format with weekday "lang": write narrow, short or long',
    ],
    [
      'new Date(0).toLocaleString("en", { timeZone: "Mars/Base" })',
      'RangeError: Cannot format in the time zone "Mars/Base": write UTC, or a name such as Europe/Berlin',
    ],
    [
      'new Date(0).toLocaleString("en", { timeZone: "UTC:2" })',
      'RangeError: Cannot format in the time zone "UTC:2": write UTC, or a name such as Europe/Berlin',
    ],
    [
      '(1).toLocaleString("en", { maximumFractionDigits: 99 })',
      "RangeError: Cannot format with maximumFractionDigits 99: write a number from 0 to 20",
    ],
    [
      'new Date(0).toLocaleDateString("en", { timeStyle: "short" })',
      "TypeError: Cannot format a date with timeStyle: use toLocaleString",
    ],
    ['(10n ** 5_000n).toLocaleString("en")', "RangeError: Cannot format with options that are this long"],
  ])("%s [S10]", async (code, message) => {
    expect(await runtime.run(code)).toMatchObject({ kind: "failed", error: { message } });
  });
});

test("lets a program find out that a part of Intl is not there [S10]", async () => {
  const code = '[typeof Intl.PluralRules, Intl.Segmenter ? "segments" : [..."añ"].length]';
  expect(await runtime.run(code)).toMatchObject({ kind: "completed", value: ["undefined", 2] });
});

test("trusts nothing of a request [S13]", () => {
  const formats = new LocaleFormats();
  const good = { of: "date", locale: "en", options: {}, to: "text", value: "0" };
  expect(formats.answer(JSON.stringify(good))).toBe('{"text":"1/1/1970"}');
  const bad = [
    undefined,
    "",
    "null",
    "[]",
    "x".repeat(5_000),
    ...[
      { of: "list" },
      { to: "eval" },
      { locale: 1 },
      { locale: "en-u-nu-arab" },
      { locale: "e".repeat(2_000) },
      { options: [] },
      { options: null },
      { options: { __proto__: null, constructor: "x" } },
      { options: { calendar: "chinese" } },
      { options: { numberingSystem: "arab" } },
      { options: { timeZone: { toString: 1 } } },
      { options: { timeZone: "../../etc" } },
      { options: { fractionalSecondDigits: 1e9 } },
      { value: 0 },
      { value: "NaN" },
      { of: "number", value: `${"9".repeat(50)}xn` },
      { of: "number", options: { style: "currency", currency: "$$$" } },
      { of: "collation", options: { sensitivity: "none" } },
      { of: "collation", options: { style: "percent" } },
      { of: "collation", locale: "not a locale" },
    ].map((part) => JSON.stringify({ ...good, ...part })),
  ];
  for (const json of bad) {
    const answer = JSON.parse(formats.answer(json)) as Readonly<Record<string, string>>;
    expect([json, Object.keys(answer)]).toEqual([json, ["name", "message"]]);
    expect(answer["message"]?.length).toBeLessThan(400);
  }
});

test.each([
  ['"Iß".toLocaleLowerCase()', "iß"],
  ['"iß".toLocaleUpperCase("de-DE")', "ISS"],
  ['"I".toLocaleLowerCase(["en", "tr"])', "i"],
])("changes the case of letters: %s", async (code, text) => {
  expect(await evaluate(code)).toBe(text);
});

test.each(['"i".toLocaleUpperCase("tr")', '"I".toLocaleLowerCase(["az-Latn"])'])(
  "refuses a language whose letters have another case: %s",
  async (code) => {
    await expect(evaluate(code)).rejects.toThrow("Cannot change the case of letters in ");
  },
);
