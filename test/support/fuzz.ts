import { configureGlobal } from "fast-check";

import { isRest } from "./repetitions.ts";

/**
 * Generated examples are the same in each `npm test`, and others in each run of the rest; a failure names its seed.
 * `FUZZ_SEED=7 npx vitest run …` looks at the examples of a seed.
 */
const seed = process.env["FUZZ_SEED"] ?? (isRest ? undefined : "1");
configureGlobal(seed === undefined ? {} : { seed: Number(seed) });

export * from "fast-check";
export { default } from "fast-check";
