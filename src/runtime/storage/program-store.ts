import { hash } from "node:crypto";

import { createError, type SkillgateError } from "../../errors.ts";
import type { CallContext } from "../../model/skill.ts";
import { formatJson } from "../../shared/json/format-json.ts";
import type { Database, ProgramSpace, SpaceState } from "../../store/index.ts";
import type { TakeOver } from "./program-files.ts";

export const KEY_CHARACTERS = 512;
export const VALUE_CHARACTERS = 256 << 10;
/** Limits on all keys and values of one space. */
export const SPACE_CHARACTERS = 1 << 20;
export const SPACE_KEYS = 10_000;
/** Limit on the spaces of one caller: one for each automation, and one for all other runs. */
export const CALLER_SPACES = 100;

/** Changes of one space that are known by their calls: a call that is made again after a crash changes nothing. */
const MAX_MARKS = 64;

/** The call of a program. */
type ProgramCall = Pick<CallContext, "caller" | "automation" | "callId">;

/** JSON values of programs, from one run to the next; each caller, and each automation of it, has other ones. */
export interface ProgramStore {
  /** Resolves to `undefined` for an unknown key. */
  get(key: string, call: ProgramCall): Promise<unknown>;
  set(key: string, value: unknown, call: ProgramCall): Promise<void>;
  /** Resolves to true if the key existed. */
  delete(key: string, call: ProgramCall): Promise<boolean>;
  /** Resolves to the keys that begin with a prefix, sorted. */
  list(prefix: string, call: ProgramCall): Promise<readonly string[]>;
  /** Deletes the values of an automation under all callers. Resolves to their number. */
  deleteAll(automation: string): Promise<number>;
}

/** `takeOver` moves values of an earlier version into the database, for a space that is used. */
export function createProgramStore(
  open: () => Promise<Pick<Database, "kind" | "programValues">>,
  takeOver: TakeOver = async () => {},
): ProgramStore {
  async function openSpace(call: ProgramCall): Promise<{ values: Database["programValues"]; space: ProgramSpace }> {
    const space = { caller: call.caller.id, automation: call.automation ?? "" };
    const database = await open();
    await takeOver(database, space);
    return { values: database.programValues, space };
  }

  return {
    async get(key, call) {
      const { values, space } = await openSpace(call);
      const json = await values.get(space, key);
      return json === undefined ? undefined : (JSON.parse(json) as unknown);
    },
    async set(key, value, call) {
      const json = formatJson(value, (why) => createStoreError(`the value of ${JSON.stringify(key)}: ${why}`));
      if (json.length > VALUE_CHARACTERS)
        throw createStoreError(
          `the value of ${JSON.stringify(key)} has ${json.length} characters, at most ${VALUE_CHARACTERS} are kept; keep parts of it under several keys`,
        );
      const { values, space } = await openSpace(call);
      await values.change(space, key, (state) => {
        if (findMark(state, call) !== undefined) return { result: undefined };
        requireSpace(state, space);
        requireRoom(state, key, json);
        return { value: json, marks: addMark(state, call, false), result: undefined };
      });
    },
    async delete(key, call) {
      const { values, space } = await openSpace(call);
      return values.change(space, key, (state) => {
        const result = findMark(state, call) ?? false;
        if (result || state.before === undefined) return { result };
        return { value: null, marks: addMark(state, call, true), result: true };
      });
    },
    async list(prefix, call) {
      const { values, space } = await openSpace(call);
      return (await values.listKeys(space)).filter((key) => key.startsWith(prefix));
    },
    async deleteAll(automation) {
      const database = await open();
      await takeOver(database);
      return database.programValues.deleteAll(automation);
    },
  };
}

/** Throws if the caller has too many spaces. */
function requireSpace({ otherSpaces = 0 }: SpaceState, { caller }: ProgramSpace): void {
  if (otherSpaces >= CALLER_SPACES)
    throw createStoreError(
      `${JSON.stringify(caller)} stores values for ${otherSpaces} automations, and at most ${CALLER_SPACES} are kept; delete the values of one of them`,
    );
}

function requireRoom({ keys, characters, before }: SpaceState, key: string, json: string): void {
  if (characters - (before ?? 0) + key.length + json.length > SPACE_CHARACTERS)
    throw createStoreError(
      `it is full: at most ${SPACE_CHARACTERS} characters are kept; delete keys that are not needed`,
    );
  if (before === undefined && keys >= SPACE_KEYS)
    throw createStoreError(`it is full: at most ${SPACE_KEYS} keys are kept; delete keys that are not needed`);
}

/** Returns what a call has resolved to that has changed the space before; `undefined` for a new call. */
function findMark({ marks }: SpaceState, call: ProgramCall): boolean | undefined {
  return [true, false].find((result) => marks.includes(createMark(call, result)));
}

/** Notes that a call has changed the space, and what it resolves to. */
function addMark({ marks }: SpaceState, call: ProgramCall, result: boolean): readonly string[] {
  return [...marks, createMark(call, result)].slice(-MAX_MARKS);
}

const MARK_UNITS = 12;

function createMark({ callId }: ProgramCall, result: boolean): string {
  return `${hash("sha256", callId, "base64url").slice(0, MARK_UNITS)}${result ? "+" : "-"}`;
}

function createStoreError(why: string): SkillgateError {
  return createError("CALL_FAILED", `device.store: ${why}`);
}
