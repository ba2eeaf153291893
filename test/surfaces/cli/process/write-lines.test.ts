import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

import { writeLines } from "../../../../src/surfaces/cli/input/write-files.ts";
import { project } from "../command.ts";

async function* failLate(): AsyncGenerator<string> {
  yield "first";
  throw new Error("the store failed");
}

test("leaves no part of an export whose records end with an error", async () => {
  const out = join(project(), "out.jsonl");
  await expect(writeLines(failLate(), out)).rejects.toThrow("the store failed");
  expect(existsSync(out)).toBe(false);
});

test("keeps a file that was there before", async () => {
  const out = join(project({ "out.jsonl": "old" }), "out.jsonl");
  await expect(writeLines(failLate(), out)).rejects.toThrow("it exists already; name a new file");
  expect(existsSync(out)).toBe(true);
});

/** Writes slowly: at the moment of the error, the writer waits for the next line. */
const SLOW_EXPORT = `
import { setTimeout } from "node:timers/promises";
import { writeLines } from ${JSON.stringify(new URL("../../../../dist/src/surfaces/cli/input/write-files.js", import.meta.url))};
async function* list() {
  for (let n = 0; n < 200; n++) {
    yield "x".repeat(1_000);
    await setTimeout(1);
  }
}
await writeLines(list(), "out.jsonl").catch((error) => console.log(error.message));`;

test("reports a file that cannot grow while the next record is read", { tags: "rest" }, () => {
  const cwd = project();
  writeFileSync(join(cwd, "slow.mjs"), SLOW_EXPORT);
  const script = `ulimit -f 64; exec "${process.execPath}" slow.mjs`;
  const printed = execFileSync("sh", ["-c", script], { cwd, encoding: "utf8", timeout: 20_000 });
  expect(printed).toBe("Cannot write out.jsonl: EFBIG\n");
  expect(existsSync(join(cwd, "out.jsonl"))).toBe(false);
});
