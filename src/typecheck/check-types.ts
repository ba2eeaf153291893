import ts from "typescript";

import { findInCall } from "./calls.ts";
import type { TypeFinding } from "./findings.ts";
import { findInMember } from "./members.ts";
import type { CheckRequest, Diagnostic } from "./protocol.ts";
import { createProgramReader, PROGRAM_START } from "./program.ts";
import type { TypedProgram } from "./typed-program.ts";
import { forEachNode } from "./syntax.ts";
import { findTestedNames } from "./certainty/presence-checks.ts";
import { CertaintyAnalysis } from "./certainty/index.ts";

/** The maximum number of diagnostics for one program. */
const MAX_DIAGNOSTICS = 50;

/** Matches programs that may add members to all arrays, strings or objects. */
const NEW_MEMBERS = /\bprototype\b|__proto__|setPrototypeOf/;

const reader = createProgramReader();

/** Finds type errors in calls of `device` and in uses of their results. */
export function checkTypes(order: CheckRequest): readonly Diagnostic[] {
  try {
    const typed = reader.read(order);
    return typed === undefined ? [] : findDiagnostics(typed);
  } catch (error) {
    reader.renew();
    throw error;
  }
}

function findDiagnostics(typed: TypedProgram): readonly Diagnostic[] {
  const findings = findAll(typed);
  if (findings.length === 0) return [];
  const certainty = new CertaintyAnalysis(typed);
  const trusted = findings.filter(({ evidence }) => certainty.holds(evidence));
  return trusted
    .slice(0, MAX_DIAGNOSTICS)
    .map((finding) => toDiagnostic(finding))
    .sort((a, b) => a.start - b.start || a.end - b.end);
}

/** Makes a few checks, so that the first that counts is not the slowest. */
export function warmUp(): void {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) checkTypes(WARM_UP_SAMPLE);
}

const WARM_UP_ROUNDS = 5;

const WARM_UP_SAMPLE: CheckRequest = {
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

function findAll(typed: TypedProgram): readonly TypeFinding[] {
  const findings: TypeFinding[] = [];
  const mayAddMembers = NEW_MEMBERS.test(typed.file.text);
  let tested: ReadonlySet<string> | undefined;
  const isTested = (name: string): boolean => (tested ??= findTestedNames(typed.file)).has(name);
  forEachNode(typed.file, (node) => {
    if (ts.isCallExpression(node)) findings.push(...findInCall(node, typed));
    if (!mayAddMembers) findings.push(...findInMember(node, typed, isTested));
  });
  return findings;
}

function toDiagnostic({ node, code, message, certain, suggestions }: TypeFinding): Diagnostic {
  const [start, end] = [node.getStart() - PROGRAM_START, node.getEnd() - PROGRAM_START];
  return { code, start, end, message, certain, suggestions };
}
