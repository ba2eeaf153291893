import { configureGlobal } from "fast-check";

import { isNightly } from "./repetitions.ts";

/**
 * Generated examples are the same in each run, and others every night; a failure names its seed. `FUZZ_SEED=7 npx vitest run …`
 * looks at the examples of a seed.
 */
const seed = process.env["FUZZ_SEED"] ?? (isNightly ? undefined : "1");
configureGlobal(seed === undefined ? {} : { seed: Number(seed) });

export * from "fast-check";
export { default } from "fast-check";
