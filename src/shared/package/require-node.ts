/** Imported for its effect, before modules that other runtimes cannot load. Throws if the program does not run in Node. */
const { bun, deno } = process.versions;
const runtime = bun !== undefined ? `Bun ${bun}` : deno !== undefined ? `Deno ${deno}` : undefined;
if (runtime !== undefined) throw new Error(`Skillgate runs on Node 20.19 or later only, and this is ${runtime}`);
