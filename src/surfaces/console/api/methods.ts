import { readFile, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";

import { getKeyState, toCaller } from "../../../keys/index.ts";
import { type Caller, mayCall } from "../../../model/caller.ts";
import type { Method } from "../../../model/catalog.ts";
import { type Explanation, explainDecision } from "../../../policy/index.ts";
import { exampleArguments } from "../../../registry/index.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { formatMethodAccess } from "../../../shared/names/method-paths.ts";
import { createUnknownNameError } from "../../../shared/suggest.ts";
import type { Endpoints } from "../endpoints.ts";
import type { MethodAccess, MethodDetail, MethodSummary } from "../messages.ts";
import type { ConsoleServices } from "../services.ts";

const RECENT_CALLS = 10;

/** Keys whose right to call a method is explained. */
const MAX_KEYS = 100;

/** A larger schema has no form. */
const MAX_SCHEMA_UNITS = 200_000;

/** A larger source is not shown. */
const MAX_SOURCE_BYTES = 200_000;

/** The list of all methods, and one method. */
export function createMethodEndpoints(services: ConsoleServices): Endpoints {
  return {
    "GET /methods": ({ view }) => ({
      methods: view.catalog.methods.map((method) => summarizeMethod(method, view.caller)),
    }),
    "GET /methods/:path": ({ getPart, view }) => describeMethod(getPart("path"), view, services),
  };
}

/** UTF-16 units of a description in lists. */
const MAX_SUMMARY_UNITS = 200;

function summarizeMethod({ path, description, metadata, definition }: Method, caller: Caller): MethodSummary {
  const summary = truncateText(description.split("\n", 1)[0] ?? "", MAX_SUMMARY_UNITS);
  const { readOnly, destructive } = metadata;
  return { path, summary, readOnly, destructive, callable: mayCall(caller, path, definition.queryText !== undefined) };
}

async function describeMethod(
  path: string,
  view: RuntimeView,
  { activity, config }: ConsoleServices,
): Promise<MethodDetail> {
  const { catalog } = view;
  const method = catalog.method(path);
  if (method === undefined) {
    const paths = catalog.methods.map((each) => each.path);
    throw createUnknownNameError("METHOD_UNKNOWN", path, paths);
  }
  const { text, example } = view.describe(path);
  const statistics = view.statistics().find(([each]) => each === path)?.[1];
  return {
    ...summarizeMethod(method, view.caller),
    text,
    example,
    access: formatMethodAccess(path),
    input: JSON.stringify(method.input).length <= MAX_SCHEMA_UNITS ? method.input : null,
    arguments: exampleArguments(method),
    statistics: statistics ?? null,
    calls: activity.listCalls(view, path, RECENT_CALLS),
    callers: await listCallers(method, view),
    source: await readSource(method, view, config?.skillsFolder),
  };
}

/** Says whether the caller may call a method, and for an administrator also which keys may. */
async function listCallers(method: Method, view: RuntimeView): Promise<readonly MethodAccess[]> {
  const own = summarizeAccess(view.caller.id, view.explain(method));
  if (!view.may("Read")) return [own];
  const { openKeys, policy } = view.admin("Read");
  const active = (await (await openKeys()).list()).filter((key) => getKeyState(key) === "active");
  const others = active.map((key) => ({ name: key.name, caller: toCaller(key) }));
  return [
    own,
    ...others
      .filter(({ caller }) => caller.id !== view.caller.id)
      .slice(0, MAX_KEYS)
      .map(({ name, caller }) => summarizeAccess(name, explainDecision(policy, method, caller))),
  ];
}

function summarizeAccess(caller: string, { decision, reasons }: Explanation): MethodAccess {
  return { caller, decision, reason: reasons[0] ?? "" };
}

/** Reads the file of a skill of the project, for those who could change it. */
async function readSource(
  { skill }: Method,
  view: RuntimeView,
  folder: string | undefined,
): Promise<MethodDetail["source"]> {
  const found = view.catalog.skill(skill);
  if (folder === undefined || found?.kind !== "file" || !view.may("ManageServers")) return null;
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, found.source))]);
    if (!file.startsWith(root + sep) || (await stat(file)).size > MAX_SOURCE_BYTES) return null;
    return { file: found.source, text: view.secrets.maskText(await readFile(file, "utf8")) };
  } catch {
    return null; // the skill is of another folder, or its file was removed
  }
}
