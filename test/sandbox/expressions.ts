import fc, { CHARACTER } from "../support/fuzz.ts";

/** Expressions for values of every kind. */
export const LEAVES = [
  "0",
  "-0",
  "-1",
  "2147483647",
  "-2147483648",
  "2147483648",
  "0.1",
  "1e300",
  "5e-324",
  "NaN",
  "-Infinity",
  "null",
  "undefined",
  "true",
  "false",
  '""',
  '"x"',
  '"ü€🎉"',
  '"\\ud800"',
  '"\\u0000\\"\\\\\\n"',
  '"__proto__"',
  "10n",
  "new Date(86400000)",
  "new Date(NaN)",
  "({ $date: '1970-01-01T00:00:00.000Z' })",
  "({ $date: [new Date(0)] })",
  "new Map([[1, 2]])",
  "new Set([1])",
  "new Uint8Array([1, 2])",
  "() => 1",
  "Symbol.iterator",
  "new Error('no')",
  "Object(1)",
  "Object('x')",
  "/x/",
  "Promise.resolve(7)",
  "new Proxy({ a: 1 }, {})",
  "[, 1]",
  "(() => { const one = {}; return [one, one] })()",
  "new (class { own = 1; get hidden() { return 2 } })()",
  "Object.defineProperty({ a: 1 }, 'hidden', { value: 1 })",
  "({ get a() { return 3 } })",
  "Object.create({ inherited: 1 })",
  "JSON.parse('{\"__proto__\":1}')",
  "({ [Symbol('s')]: 1, 5: 1, '-1': 2, '4294967295': 3, b: 4 })",
];

/** Any of them within lists and objects. */
export const expression = fc.letrec<{ readonly any: string; readonly list: string; readonly object: string }>(
  (tie) => ({
    any: fc.oneof({ maxDepth: 4 }, fc.constantFrom(...LEAVES), fc.double().map(String), tie("list"), tie("object")),
    list: fc.array(tie("any"), { maxLength: 4 }).map((items) => `[${items.join(", ")}]`),
    object: fc
      .array(fc.tuple(fc.string({ unit: CHARACTER }), tie("any")), { maxLength: 4 })
      .map((members) => `({ ${members.map(([name, of]) => `[${JSON.stringify(name)}]: ${of}`).join(", ")} })`),
  }),
).any;
