import { readProgramSource } from "../../frontend/index.ts";
import type { Catalog, Method } from "../../model/catalog.ts";
import type { MethodMetadata } from "../../model/skill.ts";
import type { SavedFile } from "../../providers/skills/index.ts";
import { type Cassette, type CassetteSkill, INPUT_PATH, RECOMPILABLE_FORMAT, withInputCall } from "../../runs/index.ts";
import { MASK } from "../../shared/masks/mask.ts";
import { formatList } from "../../shared/format-text.ts";
import { hashDefinition } from "../execution/run-header.ts";
import { formatPlace } from "./literals.ts";
import { createSaveError, type ParameterizedProgram, parameterize, parameterizeInput } from "./parameterize.ts";

/** How a run becomes a skill. */
export interface SaveOptions {
  /** The name of the skill. */
  readonly name: string;
  readonly method: string;
  readonly description: string | undefined;
  /** `city`, or `city=Berlin`. */
  readonly parameters: readonly string[];
  /** The name of the file that gets the cassette. */
  readonly cassetteFile: string;
}

/** Describes a run as a saved skill. */
export function createSavedFile(
  { source, parameters, methods, cassette: { run } }: SavedProgram,
  { name, method, cassetteFile: cassette, description = describeMethods(methods) }: SaveOptions,
): SavedFile {
  return { name, description, method, run, cassette, parameters, metadata: inferMetadata(methods), source };
}

/** The program of a run, which takes its parameters from `device.input()`. */
export interface SavedProgram extends ParameterizedProgram {
  /** The methods that it calls. */
  readonly methods: readonly Method[];
  /** The record of the run, as if this program had run. */
  readonly cassette: Cassette;
}

/**
 * Makes a program with parameters of a run that has completed. The cassette must be masked; `catalog` has the methods that the run
 * called. Throws `SAVE_INVALID`.
 */
export function createSavedProgram(cassette: Cassette, request: readonly string[], catalog: Catalog): SavedProgram {
  const { run, header, outcome } = cassette;
  if (outcome === undefined) throw createSaveError(`run ${run} has not ended`);
  if (outcome.kind !== "completed")
    throw createSaveError(`run ${run} did not work, and only a run that worked is saved`);
  const asksForInput = header.input !== undefined && header.program.paths.includes(INPUT_PATH);
  const text = extractSource(header.source);
  const program = asksForInput ? parameterizeInput(text, header.input, request) : parameterize(text, request);
  refuseSecrets(program.source);
  const hasNewInput = !asksForInput && Object.keys(program.parameters).length > 0;
  const recorded = hasNewInput ? withInputCall(cassette, program.values) : cassette;
  const methods = header.program.paths.flatMap((path) => requireMethod(path, cassette, catalog) ?? []);
  return {
    ...program,
    methods,
    cassette: { ...recorded, format: RECOMPILABLE_FORMAT, skills: describeSkills(methods, catalog) },
  };
}

/** Returns the program without fences and the blank lines around it. */
function extractSource(source: string): string {
  const program = readProgramSource(source, { sourceBytes: Infinity });
  const text = source.includes("```") && program.kind === "program" ? program.text : source;
  return `${text.replace(/^(?:[ \t]*\n)+/, "").trimEnd()}\n`;
}

/** A program with a masked secret would not do what the run did, unless the secret is a parameter. */
function refuseSecrets(source: string): void {
  const offset = source.indexOf(MASK);
  if (offset < 0) return;
  const position = formatPlace(source, offset);
  throw createSaveError(
    `the program has a secret at ${position}, which must not be in a file: make it a parameter with --param, or a setting of the skill that it calls`,
  );
}

/** Returns the method of a path; `undefined` for a question. The definition must be the one that the run called. */
function requireMethod(path: string, { header }: Cassette, catalog: Catalog): Method | undefined {
  const method = catalog.method(path);
  const digest = header.methods[path];
  if (digest === undefined && method === undefined) return undefined;
  if (method === undefined) throw createSaveError(`its method ${path} is not there; start its skill or server`);
  if (digest === hashDefinition(method)) return method;
  throw createSaveError(`its method ${path} has changed since the run; run the program again, and save that run`);
}

function describeSkills(methods: readonly Method[], catalog: Catalog): readonly CassetteSkill[] {
  const names = [...new Set(methods.map(({ skill }) => skill))];
  return names.map((name) => ({
    name,
    kind: catalog.skill(name)?.kind ?? "code",
    methods: methods.filter(({ skill }) => skill === name).map(({ definition }) => definition),
  }));
}

const MAX_NAMED = 4;

function describeMethods(methods: readonly Method[]): string {
  if (methods.length === 0) return "Computes a value";
  return `Calls ${formatList(
    methods.map(({ path }) => path),
    MAX_NAMED,
  )}`;
}

/** A program is as harmless as the least harmless of its methods. */
function inferMetadata(methods: readonly Method[]): Partial<MethodMetadata> {
  const all = (flag: "readOnly" | "idempotent"): boolean => methods.every(({ metadata }) => metadata[flag]);
  const some = (flag: "destructive" | "openWorld"): boolean => methods.some(({ metadata }) => metadata[flag]);
  const flags = {
    readOnly: all("readOnly"),
    idempotent: all("idempotent"),
    destructive: some("destructive"),
    openWorld: some("openWorld"),
  };
  return Object.fromEntries(Object.entries(flags).filter(([, isSet]) => isSet));
}
