import { isRecord } from "../../src/model/json.ts";
import type { FieldRule } from "./task.ts";

/** Conditions for a text; all must hold. */
export interface TextCondition {
  /** In any case. */
  readonly contains?: string | readonly string[];
  /** In any case. */
  readonly lacks?: string | readonly string[];
  /** Apart from spaces at both ends. */
  readonly equals?: string;
  /** A regular expression, in any case. */
  readonly matches?: string;
}

/** The conditions for the end of a task; all must hold. */
export interface TaskCheck {
  readonly answer?: TextCondition;
  /** The JSON value in the answer. */
  readonly json?: unknown;
  /** Paths or patterns such as `MailSkill.*` with a successful call; with a number: exactly that many. */
  readonly called?: readonly string[] | Readonly<Record<string, number>>;
  /** Paths or patterns without any attempted call. */
  readonly notCalled?: readonly string[];
  /** The number of questions whether a call may be made. */
  readonly approvals?: number;
  /** The number of successful calls that can have an effect. */
  readonly effects?: number;
  /** Files of the working folder; `absent` for a file that must not exist. */
  readonly files?: Readonly<Record<string, TextCondition | "absent">>;
  /** A program that runs after the task, with all rights, and its value. */
  readonly afterwards?: { readonly code: string; readonly equals: unknown };
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;

const TEXT_FORM = "conditions such as { contains: Ada }, with contains, lacks, equals or matches";

const CONDITIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  contains: (value) => isText(value) || isTextList(value),
  lacks: (value) => isText(value) || isTextList(value),
  equals: isText,
  matches: isPattern,
};

export const CHECK_FIELDS: Readonly<Record<keyof TaskCheck, FieldRule>> = {
  answer: [TEXT_FORM, isTextCondition],
  json: ["a JSON value", () => true],
  called: ["a list of paths, or numbers by path, as in called: { ShopSkill.list: 2 }", isCalled],
  notCalled: ["a list of paths, as in notCalled: [MailSkill.*]", isTextList],
  approvals: ["a whole number", isCount],
  effects: ["a whole number", isCount],
  files: [`absent, or ${TEXT_FORM}, by file`, isFiles],
  afterwards: [
    "a program and its value, as in afterwards: { code: device.MailSkill.list(), equals: [] }",
    (value) => isRecord(value) && isText(value["code"]) && "equals" in value && Object.keys(value).length === 2,
  ],
};

function isTextCondition(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(([name, member]) => Object.hasOwn(CONDITIONS, name) && CONDITIONS[name]?.(member))
  );
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return new RegExp(value, "iu").test("") || true;
  } catch {
    return false; // the form says that it is a regular expression
  }
}

function isCalled(value: unknown): boolean {
  return isTextList(value) || (isRecord(value) && Object.values(value).every(isCount));
}

function isFiles(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((file) => file === "absent" || isTextCondition(file));
}
