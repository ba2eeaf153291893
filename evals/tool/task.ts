import { stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";

import type { ConfigDocument, DocumentPath } from "../../src/config/index.ts";
import { isRecord } from "../../src/model/json.ts";
import { describeUnknownName } from "../../src/shared/suggest.ts";
import { loadConfigModule } from "../../src/surfaces/cli/mcp/files.ts";
import { type TaskCheck, CHECK_FIELDS } from "./task-check.ts";

/** The two variants in which a model works on a task: with programs, and with plain tool calls, each method a tool. */
export const VARIANTS = ["programs", "plain"] as const;

export type Variant = (typeof VARIANTS)[number];

/** A task for a model: a request, its fixtures, and what must be true at the end. */
export interface EvalTask {
  readonly name: string;
  /** As the user wrote it. */
  readonly file: string;
  /** The folder of the file, absolute. */
  readonly folder: string;
  readonly request: string;
  /** Folder of skills. Absolute. */
  readonly skills?: string;
  /** Folder that is copied into the working folder of each run. Absolute. */
  readonly files?: string;
  /** MCP servers by name, as in `.mcp.json`. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** The answer to each question whether a call may be made. */
  readonly approve: boolean;
  /** Scripts that solve the task, for `--model scripted`. Absolute. */
  readonly scripts: Readonly<Partial<Record<Variant, string>>>;
  readonly check: TaskCheck;
}

/** Tests a value of a task; the text says what is allowed. */
export type FieldRule = readonly [form: string, isValid: (value: unknown) => boolean];

const isText = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

const FIELDS: Readonly<Record<string, FieldRule>> = {
  name: ["a text", isText],
  request: ["the text that the model gets, as in request: How many issues are open?", isText],
  skills: ["a folder of skills, as in skills: skills/shop", isText],
  files: ["a folder that each run gets a copy of, as in files: files/notes", isText],
  servers: ["MCP servers by name, as in .mcp.json", isRecord],
  approve: ["true or false", (value) => typeof value === "boolean"],
  scripts: [
    "files by variant, as in scripts: { programs: scripts/a.yaml, plain: scripts/b.yaml }",
    (value) => isRecord(value) && Object.entries(value).every(([variant, file]) => isVariant(variant) && isText(file)),
  ],
  check: [`some of ${Object.keys(CHECK_FIELDS).join(", ")}`, isRecord],
};

const isVariant = (name: string): boolean => VARIANTS.some((variant) => variant === name);

/** Parses a task. Throws `CONFIG_INVALID` with the line and the column of the first mistake. `path` is absolute. */
export async function parseTask(text: string, file: string, path: string): Promise<EvalTask> {
  const { parseDocument, configError } = await loadConfigModule();
  const document = parseDocument(text, file, "yaml");
  const fail = (wrong: string, at: DocumentPath): never => {
    throw configError(file, wrong, document.locate(at), "Correct the task; .github/CONTRIBUTING.md lists its fields");
  };
  requireFields(document.value, FIELDS, { what: "task", path: [], fail });
  const { request, check } = document.value;
  if (request === undefined) fail(`request is missing; write ${FIELDS["request"]?.[0]}`, []);
  if (!isRecord(check) || Object.keys(check).length === 0)
    fail(`check is missing; write ${FIELDS["check"]?.[0]}`, isRecord(check) ? ["check"] : []);
  requireFields(check as TaskCheck, CHECK_FIELDS, { what: "check", path: ["check"], fail });
  const task = createTask(document, file, path);
  for (const name of ["skills", "files"] as const)
    if (task[name] !== undefined && !(await isFolder(task[name])))
      fail(`${name} must be ${FIELDS[name]?.[0]}; there is no folder ${task[name]}`, [name]);
  return task;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

interface FieldPlace {
  readonly what: string;
  readonly path: DocumentPath;
  readonly fail: (wrong: string, at: DocumentPath) => never;
}

function requireFields(
  value: object,
  rules: Readonly<Record<string, FieldRule>>,
  { what, path, fail }: FieldPlace,
): void {
  for (const [name, member] of Object.entries(value)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    const otherwise = `the fields are ${Object.keys(rules).join(", ")}`;
    const at = [...path, name];
    if (rule === undefined)
      fail(describeUnknownName(`field of a ${what}`, name, Object.keys(rules), { otherwise }).message, at);
    else if (!rule[1](member)) fail(`${name} must be ${rule[0]}`, at);
  }
}

/** Creates a task from fields that were checked. */
function createTask({ value }: ConfigDocument, file: string, path: string): EvalTask {
  const fields = value as unknown as Partial<Omit<EvalTask, "file" | "folder">> & Pick<EvalTask, "request" | "check">;
  const folder = dirname(path);
  const { name = basename(path, extname(path)), request, skills, files, servers = {}, approve = false, check } = fields;
  const scripts = Object.entries(fields.scripts ?? {}).map(([variant, script]) => [variant, join(folder, script)]);
  return {
    name,
    file,
    folder,
    request,
    ...(skills !== undefined && { skills: join(folder, skills) }),
    ...(files !== undefined && { files: join(folder, files) }),
    servers,
    approve,
    scripts: Object.fromEntries(scripts) as EvalTask["scripts"],
    check,
  };
}
