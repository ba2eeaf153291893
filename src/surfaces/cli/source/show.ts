import type { ShownOperation, SourceStatus } from "../../../providers/sources/index.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import type { CommandResult } from "../command.ts";
import type { CliSession } from "../session.ts";
import type { Paint } from "../terminal/terminal.ts";
import { count, DESCRIPTION_UNITS, lines, shortened, table } from "../text/layout.ts";
import { findSource } from "./find-source.ts";
import { describeChange, describeSecurity, describeSource } from "./source-texts.ts";

/** Shows the operations of an API, or one of them with its declaration. */
export async function showSource(
  session: CliSession,
  name: string,
  method: string | undefined,
): Promise<CommandResult> {
  const status = await findSource(session, name);
  const operations = await listOperations(session, name);
  if (method !== undefined) return showOperation(session, status, { method, operations });
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: { ...status, operations },
    text: lines([
      ...describeSource(status, session.paint.out),
      ...table(operations.map((operation) => describeRow(operation, session.paint.out))),
    ]),
  };
}

async function listOperations(session: CliSession, name: string): Promise<readonly ShownOperation[]> {
  return (await session.openRuntime({ until: "known" })).listOperations(name);
}

function describeRow({ method, verb, path, effect, summary, isHeld }: ShownOperation, paint: Paint): readonly string[] {
  const state = isHeld ? paint.yellow("held") : effect;
  return [`  ${method}`, state, `${verb} ${path}`, paint.dim(shortened(summary, DESCRIPTION_UNITS))];
}

interface WantedOperation {
  readonly method: string;
  readonly operations: readonly ShownOperation[];
}

async function showOperation(
  session: CliSession,
  { name, skill, changes }: SourceStatus,
  { method, operations }: WantedOperation,
): Promise<CommandResult> {
  const change = changes.find((each) => each.name === method);
  const operation = operations.find((each) => each.method === method);
  if (operation === undefined)
    throw createUnknownNameError(
      "METHOD_UNKNOWN",
      method,
      operations.map((each) => each.method),
    );
  const path = `${skill}.${method}`;
  const { declaration, text } = (await session.openRuntime({ until: "known" })).describe(path);
  return {
    json: { ...operation, path, ...(declaration !== undefined && { declaration }), ...(change && { change }) },
    text: lines([
      `${operation.verb} ${operation.path}`,
      operation.reason,
      ...(change === undefined ? [] : [describeChange(change), `Accept this with: skillgate source accept ${name}`]),
      operation.isHeld ? "" : text,
    ]),
  };
}

/** Lists what of a document is left out or has changed, and the operations that may only read. */
export async function checkSource(session: CliSession, name: string): Promise<CommandResult> {
  const status = await findSource(session, name);
  const operations = await listOperations(session, name);
  return {
    ...(status.error !== undefined && { exit: "failed" as const }),
    json: {
      ...status,
      reads: operations.filter(({ looksLikeRead }) => looksLikeRead).map(formatOperation),
      loosened: operations.filter(({ isLoosened }) => isLoosened).map(formatOperation),
    },
    text: lines([
      ...describeSource(status, session.paint.out),
      ...status.problems.map((problem) => `  ${problem}`),
      ...describeSecurity(status),
      ...status.changes.map(describeChange),
      ...(status.changes.length === 0 ? [] : [`Accept this with: skillgate source accept ${name}`]),
      ...describeLoosened(name, operations),
      ...proposeReads(name, operations),
    ]),
  };
}

function formatOperation({ verb, path }: ShownOperation): string {
  return `${verb} ${path}`;
}

function describeLoosened(name: string, operations: readonly ShownOperation[]): readonly string[] {
  const loosened = operations.filter(({ isLoosened }) => isLoosened);
  if (loosened.length === 0) return [];
  const subject = loosened.length === 1 ? "1 operation counts" : `${loosened.length} operations count`;
  return [
    `${subject} as reading only because sources.${name}.effects says so:`,
    ...loosened.map((operation) => `  ${formatOperation(operation)}`),
  ];
}

/** Proposes the operations that look as if they only read, which the owner knows. */
export function proposeReads(name: string, operations: readonly ShownOperation[]): readonly string[] {
  const reads = operations.filter(({ looksLikeRead }) => looksLikeRead).map(formatOperation);
  if (reads.length === 0) return [];
  return [
    `${count(reads.length, "operation")} may only read. If so, write it into settings.yaml:`,
    `  sources: { ${name}: { effects: { ${JSON.stringify(reads[0])}: read } } }`,
    ...reads.map((operation) => `  ${operation}`),
  ];
}
