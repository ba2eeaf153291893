import { randomBytes } from "node:crypto";

import { createPositionMap } from "../../gatekeeper/index.ts";
import type { Catalog, Method } from "../../model/catalog.ts";
import type { Program } from "../../model/snippet.ts";
import type { RunHeader } from "../../runs/index.ts";
import { hashValue } from "../../shared/digest.ts";
import { VERSION } from "../../shared/version.ts";
import type { RunRequest } from "./run-services.ts";

/** Creates the header of a run that begins now. */
export function createHeader(
  { source, program, notes }: { readonly source: string; readonly program: Program; readonly notes: readonly string[] },
  { caller, limits, catalog }: RunRequest,
  continues?: { readonly id: string; readonly seed: string; readonly time: number },
): RunHeader {
  const { code, paths, readOnly, waits, segments } = program;
  return {
    version: VERSION,
    source,
    program: { code, paths, readOnly, waits, segments },
    notes,
    seed: continues?.seed ?? randomBytes(8).toString("base64"),
    time: continues?.time ?? Date.now(),
    caller,
    limits,
    methods: hashMethods(paths, catalog),
    ...(continues !== undefined && { continues: continues.id }),
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
  const found = paths.flatMap((path) => catalog.method(path) ?? []);
  return Object.fromEntries(found.map((method) => [method.path, hashDefinition(method)]));
}
