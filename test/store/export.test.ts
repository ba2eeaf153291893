import { afterEach, beforeEach, expect, test } from "vitest";

import type { ExportVerdict } from "../../src/store/audit/export.ts";
import { type Database, openDatabase, verifyAuditExport } from "../../src/store/index.ts";
import { prepareDatabases } from "../support/databases.ts";

const { getFolder } = prepareDatabases();

let database: Database;
beforeEach(async () => {
  database = await openDatabase({ folder: getFolder() });
});
afterEach(() => database.close());

async function* iterate<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

async function exportItems(count: number): Promise<readonly string[]> {
  const items = Array.from({ length: count }, (_, n) => ({ seq: n + 1, caller: "ada", method: "MailSkill.send" }));
  const lines: string[] = [];
  for await (const line of database.audit.signLines(iterate(items), { caller: "ada" })) lines.push(line);
  return lines;
}

async function verify(lines: readonly string[], signer?: string): Promise<ExportVerdict> {
  const expected = signer === undefined ? { folder: getFolder() } : { signers: new Set([signer]) };
  return (await verifyAuditExport(iterate(lines), expected)).verdict;
}

test("verifies a signed export, also an empty one [P8]", async () => {
  const lines = await exportItems(4);
  const verdict = await verify(lines);
  expect(verdict).toMatchObject({ kind: "intact", records: 4, filter: { caller: "ada" } });
  expect(await verify(await exportItems(0))).toMatchObject({ kind: "intact", records: 0 });
  const signer = verdict.kind === "intact" ? verdict.signer : "";
  expect(await verify(lines, signer)).toEqual(verdict);
});

test("finds each byte that was changed, and names its line [P8]", { tags: "rest" }, async () => {
  const lines = await exportItems(3);
  for (const [at, line] of lines.entries())
    for (let position = 0; position < line.length; position++) {
      const changed = line.slice(0, position) + (line[position] === "7" ? "8" : "7") + line.slice(position + 1);
      const verdict = await verify(lines.with(at, changed));
      expect(verdict.kind, changed).toBe("broken");
      // A trailer that cannot be read is an additional line, and the number of a line may be the changed byte.
      expect(verdict).toMatchObject({ line: at + 1 });
    }
});

test("names a line that was removed, moved, added or inserted [P8]", async () => {
  const lines = await exportItems(4);
  const [first, second, third, fourth, trailer] = lines as [string, string, string, string, string];
  const cases: readonly (readonly [lines: readonly string[], problem: string, line: number, says: string])[] = [
    [[first, third, fourth, trailer], "missing", 2, "Line 2 is missing"],
    [[fourth, trailer], "missing", 1, "Lines 1 to 3 are missing"],
    [[first, second, trailer], "missing", 3, "Lines 3 to 4 are missing: the trailer counts 4"],
    [[first, third, second, fourth, trailer], "reordered", 2, "Line 3 is at position 2: the lines were reordered"],
    [[first, first, second, trailer], "reordered", 2, "Line 1 is at position 2: the lines were reordered"],
    [[...lines, fourth], "appended", 6, "Line 6 was added after the signed trailer"],
    [[...lines, trailer], "appended", 6, "Line 6 was added after the signed trailer"],
    [[first, second], "unsigned", 3, "The signed trailer is missing after line 2: lines may be missing, too"],
    [[], "unsigned", 1, "The signed trailer is missing after line 0: lines may be missing, too"],
  ];
  for (const [changed, problem, line, says] of cases)
    expect(await verify(changed)).toEqual({ kind: "broken", problem, line, says });
});

test("refuses an export whose hashes were computed again, or that another key has signed [P8]", async () => {
  const lines = await exportItems(2);
  await using other = await openDatabase({ folder: `${getFolder()}/other` });
  const forged: string[] = [];
  for await (const line of other.audit.signLines(iterate([{ seq: 1 }, { seq: 2 }]), { caller: "ada" }))
    forged.push(line);
  expect(await verify(forged)).toMatchObject({
    problem: "signature",
    line: 3,
    says: expect.stringMatching(/^The trailer is signed by another key than expected: /),
  });
  const trailer = lines.at(-1) ?? "";
  expect(await verify([...forged.slice(0, -1), trailer])).toEqual({
    kind: "broken",
    problem: "changed",
    line: 1,
    says: "The lines are not those that were signed: one or more were changed",
  });
  const elsewhere = await verifyAuditExport(iterate(forged), {});
  expect(elsewhere).toMatchObject({ isKnownSigner: false, verdict: { kind: "intact", records: 2 } });
});
