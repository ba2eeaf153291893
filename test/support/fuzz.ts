import { type Arbitrary, configureGlobal, integer } from "fast-check";

import { isNightly } from "./repetitions.ts";

/**
 * Generated examples are the same in each run, and others every night; a failure names its seed. `FUZZ_SEED=7 npx vitest run …`
 * looks at the examples of a seed.
 */
const seed = process.env["FUZZ_SEED"] ?? (isNightly ? undefined : "1");
configureGlobal(seed === undefined ? {} : { seed: Number(seed) });

/** The number of code points before the surrogates, and that of the surrogates. */
const FIRST_SURROGATE = 0xd8_00;
const SURROGATES = 0x8_00;

/** Any character. The unit `binary` has the same, but holds a table of all: 85 MB and two seconds of computing in each process. */
export const CHARACTER: Arbitrary<string> = integer({ min: 0, max: 0x10_ff_ff - SURROGATES }).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (text) => {
    const point = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
    if (point < 0 || text !== String.fromCodePoint(point)) throw new Error("Not one character");
    if (point < FIRST_SURROGATE) return point;
    if (point < FIRST_SURROGATE + SURROGATES) throw new Error("Half of a character");
    return point - SURROGATES;
  },
);

export * from "fast-check";
export { default } from "fast-check";
