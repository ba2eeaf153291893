import { hash } from "node:crypto";

import { sentence, SkillgateError } from "../../errors.ts";
import { isTextList } from "../../model/json.ts";
import type { CallContext } from "../../model/skill.ts";
import { formatJson } from "../../shared/json/format-json.ts";
import type { Space, SpaceContent, Store } from "../../store/index.ts";

export const KEY_CHARACTERS = 512;
export const VALUE_CHARACTERS = 256 << 10;
/** Limits on all keys and values of one space. */
export const SPACE_CHARACTERS = 1 << 20;
export const SPACE_KEYS = 10_000;
/** Limit on the spaces of one caller: one for each automation, and one for all other runs. */
export const CALLER_SPACES = 100;

/** The beginning of the names of the spaces of programs in the store. */
export const PROGRAM_SPACES = "program ";

/** The names of the automations of each caller that store something; the name is empty for runs without an automation. */
const INDEX_SPACE = "programs";

/** Changes of one space that are known by their calls: a call that is made again after a crash changes nothing. */
const MAX_MARKS = 64;

/** The key of these marks; the keys of programs are not empty. */
const MARKS_KEY = "";

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
}

export function createProgramStore(store: Store): ProgramStore {
  const index = store.space(INDEX_SPACE);
  return {
    get: (key, call) => openSpace(store, call).get(key),
    async set(key, value, call) {
      const json = formatJson(value, (why) => createStoreError(`the value of ${JSON.stringify(key)}: ${why}`));
      if (json.length > VALUE_CHARACTERS)
        throw createStoreError(
          `the value of ${JSON.stringify(key)} has ${json.length} characters, at most ${VALUE_CHARACTERS} are kept; keep parts of it under several keys`,
        );
      await requireSpace(index, call);
      await openSpace(store, call).change((content) => {
        if (findMark(content, call) !== undefined) return;
        requireRoom(content, key, json);
        content.put(key, JSON.parse(json));
        addMark(content, call, false);
      });
    },
    async delete(key, call) {
      const { wasThere, isEmpty } = await openSpace(store, call).change((content) => {
        const before = findMark(content, call);
        if (before !== undefined) return { wasThere: before, isEmpty: false };
        const isDeleted = content.delete(key);
        if (isDeleted) addMark(content, call, isDeleted);
        return { wasThere: isDeleted, isEmpty: isDeleted && countKeys(content) === 0 };
      });
      if (isEmpty) await leaveSpace(index, call);
      return wasThere;
    },
    async list(prefix, call) {
      const keys = (await openSpace(store, call).entries(prefix)).map(([key]) => key);
      return keys.filter((key) => key !== MARKS_KEY);
    },
  };
}

/** Names of callers may be longer than names of files. */
function openSpace(store: Store, { caller, automation = "" }: ProgramCall): Space {
  return store.space(PROGRAM_SPACES + hash("sha256", JSON.stringify([caller.id, automation])));
}

/** Counts the space of a call. Throws if the caller has too many. */
async function requireSpace(index: Space, { caller, automation = "" }: ProgramCall): Promise<void> {
  if (toNames(await index.get(caller.id)).includes(automation)) return;
  await index.change((content) => {
    const names = toNames(content.get(caller.id));
    if (names.includes(automation)) return;
    if (names.length >= CALLER_SPACES)
      throw createStoreError(
        `${JSON.stringify(caller.id)} stores values for ${names.length} automations, and at most ${CALLER_SPACES} are kept; delete the values of one of them`,
      );
    content.put(caller.id, [...names, automation]);
  });
}

async function leaveSpace(index: Space, { caller, automation = "" }: ProgramCall): Promise<void> {
  await index.change((content) => {
    const left = toNames(content.get(caller.id)).filter((name) => name !== automation);
    if (left.length === 0) content.delete(caller.id);
    else content.put(caller.id, left);
  });
}

function toNames(stored: unknown): readonly string[] {
  return isTextList(stored) ? stored : [];
}

function requireRoom(content: SpaceContent, key: string, json: string): void {
  const before = content.get(key);
  const freed = before === undefined ? 0 : key.length + JSON.stringify(before).length;
  if (content.size - freed + key.length + json.length > SPACE_CHARACTERS)
    throw createStoreError(
      `it is full: at most ${SPACE_CHARACTERS} characters are kept; delete keys that are not needed`,
    );
  if (before === undefined && countKeys(content) >= SPACE_KEYS)
    throw createStoreError(`it is full: at most ${SPACE_KEYS} keys are kept; delete keys that are not needed`);
}

function countKeys(content: SpaceContent): number {
  return content.count - (content.get(MARKS_KEY) === undefined ? 0 : 1);
}

/** Returns what a call has resolved to that has changed the space before; `undefined` for a new call. */
function findMark(content: SpaceContent, call: ProgramCall): boolean | undefined {
  const marks = toNames(content.get(MARKS_KEY));
  return [true, false].find((result) => marks.includes(createMark(call, result)));
}

/** Notes that a call has changed the space, and what it resolves to. */
function addMark(content: SpaceContent, call: ProgramCall, result: boolean): void {
  content.put(MARKS_KEY, [...toNames(content.get(MARKS_KEY)), createMark(call, result)].slice(-MAX_MARKS));
}

const MARK_UNITS = 12;

function createMark({ callId }: ProgramCall, result: boolean): string {
  return `${hash("sha256", callId, "base64url").slice(0, MARK_UNITS)}${result ? "+" : "-"}`;
}

function createStoreError(why: string): SkillgateError {
  return new SkillgateError("CALL_FAILED", sentence("CALL_FAILED", `device.store: ${why}`));
}
