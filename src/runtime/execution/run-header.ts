import { randomBytes } from "node:crypto";

import { createPositionMap } from "../../gatekeeper/index.ts";
import type { UsableAccounts } from "../../model/account.ts";
import { type Catalog, getOriginal, type Method } from "../../model/catalog.ts";
import type { JsonSchema } from "../../model/json.ts";
import type { Program } from "../../model/program.ts";
import type { RunHeader } from "../../runs/index.ts";
import { hashValue } from "../../shared/digest.ts";
import { createInputError, createRunInput } from "../../shared/json/run-input.ts";
import { VERSION } from "../../shared/version.ts";
import { createValueCheck, type ValueCheck } from "../../validation/index.ts";
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
  const { caller, limits, catalog, observer, asksForEffects, automation } = request;
  const accountIds = listAccountIds(paths, request, accounts);
  const requestKeys = listRequestKeys(catalog, observer?.requestValues);
  const header: RunHeader = {
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
    ...(automation !== undefined && { automation }),
    ...(continued && { continues: continued.continuation.history.run, ...continued.continuation.answers }),
  };
  return withInputHeader(header, request.input);
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

/** The part of a header that has the input of its run. */
type InputHeader = Pick<RunHeader, "input" | "isForeignInput">;

/** Adds the input of a run to its header, which reads the value only when it is written. */
function withInputHeader(header: RunHeader, input: RunRequest["input"]): RunHeader {
  if (input === undefined) return header;
  const whole = { ...header, ...(input.isForeign && { isForeignInput: true }) };
  return Object.defineProperty(whole, "input", { enumerable: true, get: () => input.value });
}

/** Restores the input of a recorded run. */
export function restoreInput({ input, isForeignInput = false }: InputHeader): Pick<RunRequest, "input"> {
  return input === undefined ? {} : { input: createRunInput(input, isForeignInput) };
}

/**
 * Returns the request with the input of the run that it continues, unless it has one of its own. Throws `INPUT_INVALID` for an input
 * that does not match the schema of the request, or is missing.
 */
export function withInput(request: RunRequest, continued: InputHeader = {}): RunRequest {
  const whole = request.input === undefined ? { ...request, ...restoreInput(continued) } : request;
  const { input, inputSchema } = whole;
  if (inputSchema === undefined) return whole;
  if (input === undefined) throw createInputError("it is missing, and the program has a schema for it");
  checkInput(input.value, inputSchema);
  return whole;
}

/** Throws `INPUT_INVALID` for an input that does not match a schema. */
export function checkInput(input: unknown, schema: JsonSchema): void {
  const problem = getCheck(schema)(input);
  if (problem !== undefined) throw createInputError(problem);
}

/** The checks of schemas, which stay the same for most runs. */
const CHECKS = new WeakMap<JsonSchema, ValueCheck>();

function getCheck(schema: JsonSchema): ValueCheck {
  const check = CHECKS.get(schema) ?? createValueCheck(schema);
  CHECKS.set(schema, check);
  return check;
}
