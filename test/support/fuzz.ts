import { configureGlobal } from "fast-check";

/** Generated examples are the same each time; `FUZZ_SEED=7 npx vitest run …` looks at others. */
configureGlobal({ seed: Number(process.env["FUZZ_SEED"] ?? 1) });

export * from "fast-check";
export { default } from "fast-check";
