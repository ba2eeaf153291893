import ts from "typescript";

import { findInCall } from "./calls.ts";
import type { Finding } from "./findings.ts";
import { findInMember } from "./members.ts";
import type { CheckOrder, Diagnostic } from "./messages.ts";
import { createReader, SNIPPET_START } from "./program.ts";
import type { Reading } from "./reading.ts";
import { forEachNode } from "./syntax.ts";
import { testedNames } from "./tested.ts";
import { Trust } from "./trust.ts";

/** What more is wrong in one snippet helps nobody. */
const MOST_DIAGNOSTICS = 50;

/** How a snippet gives members to all arrays, texts and objects. */
const NEW_MEMBERS = /\bprototype\b|__proto__|setPrototypeOf/;

const read = createReader();

/** What is wrong with the calls of `device` and with what is done with their results, as far as types can tell. */
export function checkTypes(order: CheckOrder): readonly Diagnostic[] {
  const reading = read(order);
  if (reading === undefined) return [];
  const findings = findAll(reading);
  if (findings.length === 0) return [];
  const trust = new Trust(reading);
  const trusted = findings.filter(({ grounds }) => trust.holds(grounds));
  return trusted
    .slice(0, MOST_DIAGNOSTICS)
    .map((finding) => diagnosticOf(finding))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Makes a few checks, so that the first that counts is not the slowest. */
export function rehearse(): void {
  for (let round = 0; round < ROUNDS; round++) checkTypes(REHEARSAL);
}

const ROUNDS = 5;

const REHEARSAL: CheckOrder = {
  code: `const { items } = await device.A.list("x", { count: 2 });
    const all = await Promise.all(items.map(async (item) => ({ ...item, more: await device.A.list(item.name) })));
    for (const one of all) console.log(one.more.items[0].nmae, \`\${one.name}\`.toUpperCase());
    return all.filter((one) => one.id > 1).map((one) => device.A.list({ query: one.id }).total).join(",");`,
  typescript: false,
  declarations: `declare const device: { A: {
    list(query: string, count?: number): Promise<{ items: { id: number; name: string }[]; total: number }>;
    list(args: { query: string; count?: number }): Promise<{ items: { id: number; name: string }[]; total: number }>;
  } };`,
};

function findAll(reading: Reading): readonly Finding[] {
  const findings: Finding[] = [];
  const mayAddMembers = NEW_MEMBERS.test(reading.file.text);
  let tested: ReadonlySet<string> | undefined;
  const isTested = (name: string): boolean => (tested ??= testedNames(reading.file)).has(name);
  forEachNode(reading.file, (node) => {
    if (ts.isCallExpression(node)) findings.push(...findInCall(node, reading));
    if (!mayAddMembers) findings.push(...findInMember(node, reading, isTested));
  });
  return findings;
}

function diagnosticOf({ node, code, message, certain, suggestions }: Finding): Diagnostic {
  const [start, end] = [node.getStart() - SNIPPET_START, node.getEnd() - SNIPPET_START];
  return { code, start, end, message, certain, suggestions };
}
