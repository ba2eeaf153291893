import { type Delivery } from "../../sandbox/index.ts";
import { createError, type SkillgateError } from "../errors.ts";
import { isRecord, parseJson } from "../model/json.ts";
import type { ProvidedSkill } from "../model/skill.ts";
import type { RunHeader, StoredOutcome } from "./header.ts";
import type { RunRecord, StoredCall } from "./run-record.ts";

/** Everything that a run depended on, and its outcome: enough to repeat it without its providers. Plain data. */
export interface Cassette {
  readonly format: typeof CASSETTE_FORMAT | typeof RECOMPILABLE_FORMAT;
  /** Id of the run. */
  readonly run: string;
  readonly header: RunHeader;
  readonly calls: readonly StoredCall[];
  readonly deliveries: readonly Delivery[];
  /** Missing if the run has not ended. */
  readonly outcome?: StoredOutcome;
  /** The methods that the program can call, in the format 2: another text of the program can be checked without its providers. */
  readonly skills?: readonly CassetteSkill[];
}

/** The part of a skill that the check of a program needs. */
export type CassetteSkill = Pick<ProvidedSkill, "name" | "kind" | "methods">;

const CASSETTE_FORMAT = "skillgate-cassette-1";

/** The format of a cassette with skills. */
export const RECOMPILABLE_FORMAT = "skillgate-cassette-2";

export function createCassette(run: string, { header, calls, deliveries, outcome }: RunRecord): Cassette {
  return {
    format: CASSETTE_FORMAT,
    run,
    header,
    // The id of a task may give access to its result.
    calls: [...calls.values()].map(({ task: _task, ...call }) => call),
    deliveries,
    ...(outcome !== undefined && { outcome }),
  };
}

/** Parses a cassette from a file. Throws `RUN_DAMAGED`, which names the part that is not valid. */
export function parseCassette(value: unknown): Cassette {
  const format = isRecord(value) ? value["format"] : undefined;
  if (!isRecord(value) || (format !== CASSETTE_FORMAT && format !== RECOMPILABLE_FORMAT))
    throw createCassetteError(`its format must be "${CASSETTE_FORMAT}" or "${RECOMPILABLE_FORMAT}"`);
  const { run, header, calls, deliveries, outcome, skills } = value;
  if (typeof run !== "string") throw createCassetteError("run must be a text");
  if (!isHeader(header)) throw createCassetteError("its header is not valid");
  if (!Array.isArray(calls)) throw createCassetteError("calls must be a list");
  const wrong = calls.findIndex((call) => !isCall(call));
  if (wrong >= 0) throw createCassetteError(`entry ${wrong + 1} of its calls is not valid`);
  if (!Array.isArray(deliveries) || !deliveries.every(isDelivery))
    throw createCassetteError("its deliveries are not valid");
  if (outcome !== undefined && !isOutcome(outcome)) throw createCassetteError("its outcome is not valid");
  const needsSkills = format === RECOMPILABLE_FORMAT;
  if (needsSkills ? !isSkillList(skills) : skills !== undefined) throw createCassetteError("its skills are not valid");
  return value as unknown as Cassette;
}

function isSkillList(skills: unknown): boolean {
  return Array.isArray(skills) && skills.every(isSkill);
}

const SKILL_KINDS: ReadonlySet<string> = new Set<ProvidedSkill["kind"]>(["code", "file", "mcp", "node", "api"]);

function isSkill(skill: unknown): boolean {
  if (!isRecord(skill)) return false;
  const { name, kind, methods } = skill;
  const isKind = typeof kind === "string" && SKILL_KINDS.has(kind);
  return typeof name === "string" && isKind && Array.isArray(methods) && methods.every(isMethod);
}

function isMethod(method: unknown): boolean {
  if (!isRecord(method)) return false;
  const { name, description, input, output, metadata } = method;
  return (
    typeof name === "string" &&
    typeof description === "string" &&
    isRecord(input) &&
    (output === undefined || isRecord(output)) &&
    (metadata === undefined || isRecord(metadata))
  );
}

function isHeader(header: unknown): boolean {
  if (!isRecord(header)) return false;
  const { source, program, notes, seed, time, limits, caller } = header;
  return (
    typeof source === "string" &&
    isProgram(program) &&
    isList(notes, "string") &&
    typeof seed === "string" &&
    Buffer.from(seed, "base64").length === SEED_BYTES &&
    Number.isFinite(time) &&
    isRecord(limits) &&
    Object.values(limits).every((limit) => typeof limit === "number" && limit >= 0) &&
    isRecord(caller) &&
    typeof caller["id"] === "string"
  );
}

const SEED_BYTES = 8;

function isProgram(program: unknown): boolean {
  return (
    isRecord(program) &&
    typeof program["code"] === "string" &&
    isList(program["paths"], "string") &&
    isList(program["readOnly"], "string") &&
    isList(program["waits"], "number") &&
    Array.isArray(program["segments"]) &&
    program["segments"].every(isRecord)
  );
}

function isCall(call: unknown): boolean {
  if (!isRecord(call)) return false;
  const { id, path, args, notes, durationMs, answer } = call;
  return (
    typeof id === "number" &&
    typeof path === "string" &&
    typeof args === "string" &&
    isList(notes, "string") &&
    typeof durationMs === "number" &&
    (answer === undefined || isAnswer(answer))
  );
}

function isAnswer(answer: unknown): boolean {
  if (!isRecord(answer)) return false;
  if (answer["ok"] === false) return isRecord(answer["error"]);
  return answer["ok"] === true && isJson(answer["json"]);
}

function isDelivery(delivery: unknown): boolean {
  return isRecord(delivery) && isList(delivery["ids"], "number") && Number.isFinite(delivery["time"]);
}

function isOutcome(outcome: unknown): boolean {
  if (!isRecord(outcome)) return false;
  const { kind, text, calls, notes, value, error } = outcome;
  const isKnown = kind === "completed" || (kind === "failed" && isRecord(error));
  const hasValue = value === undefined || (isRecord(value) && isJson(value["json"]));
  return isKnown && hasValue && typeof text === "string" && Array.isArray(calls) && isList(notes, "string");
}

function isList(value: unknown, type: "string" | "number"): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === type);
}

function isJson(text: unknown): boolean {
  return typeof text === "string" && parseJson(text) !== undefined;
}

function createCassetteError(why: string): SkillgateError {
  return createError("RUN_DAMAGED", `the cassette cannot be read: ${why}`);
}
