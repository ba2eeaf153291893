import { randomBytes } from "node:crypto";

import { createPositionMap } from "../../gatekeeper/index.ts";
import type { UsableAccounts } from "../../model/account.ts";
import { type Catalog, getOriginal, type Method } from "../../model/catalog.ts";
import type { Program } from "../../model/program.ts";
import type { RunHeader } from "../../runs/index.ts";
import { hashValue } from "../../shared/digest.ts";
import { VERSION } from "../../shared/version.ts";
import type { OpenContinuation } from "./continue-run.ts";
import { listAccountIds } from "./rights/run-accounts.ts";
import { listRequestKeys } from "./request-keys.ts";
import type { RunRequest } from "./run-services.ts";

interface HeaderParts {
  readonly continued: Pick<OpenContinuation, "continuation" | "header"> | undefined;
  readonly accounts: UsableAccounts;
}

/** Creates the header of a run that begins now. One that continues another has its seed and its clock. */
export function createHeader(
  { source, program, notes }: { readonly source: string; readonly program: Program; readonly notes: readonly string[] },
  request: RunRequest,
  { continued, accounts }: HeaderParts,
): RunHeader {
  const { code, paths, readOnly, waits, segments } = program;
  const { caller, limits, catalog, observer, asksForEffects } = request;
  const accountIds = listAccountIds(paths, request, accounts);
  const requestKeys = listRequestKeys(catalog, observer?.requestValues);
  return {
    version: VERSION,
    source,
    program: { code, paths, readOnly, waits, segments },
    notes,
    seed: continued?.header.seed ?? randomBytes(8).toString("base64"),
    time: continued?.header.time ?? Date.now(),
    caller,
    limits,
    methods: hashMethods(paths, catalog),
    ...(requestKeys && { requestKeys }),
    ...(Object.keys(accountIds).length > 0 && { accounts: accountIds }),
    ...(asksForEffects === true && { asksForEffects }),
    ...(continued && { continues: continued.continuation.history.run, ...continued.continuation.answers }),
  };
}

/** Restores the program of a header. */
export function readProgram({ program, source }: RunHeader): Program {
  return { ...program, toSourcePosition: createPositionMap(program.code, program.segments, source) };
}

/** Digest of the parts of a method that a caller relies on: a changed one may do something else. */
export function hashDefinition({ definition }: Method): string {
  const cached = DIGESTS.get(definition);
  if (cached !== undefined) return cached;
  const { name, description, input, output, metadata } = definition;
  const digest = hashValue({ name, description, input, output, metadata });
  DIGESTS.set(definition, digest);
  return digest;
}

const DIGESTS = new WeakMap<Method["definition"], string>();

function hashMethods(paths: readonly string[], catalog: Catalog): Readonly<Record<string, string>> {
  const found = paths.flatMap((path) => catalog.method(path) ?? []).map(getOriginal);
  return Object.fromEntries(found.map((method) => [method.path, hashDefinition(method)]));
}
