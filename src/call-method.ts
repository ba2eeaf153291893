import { randomUUID } from "node:crypto";

import { sentence, SkillgateError } from "./errors.ts";
import type { Catalog } from "./model/catalog.ts";
import { nearest } from "./model/nearest.ts";
import type { Route } from "./router/index.ts";
import type { RunRequest } from "./run-snippet.ts";

/** One call without a snippet around it, through the same guards. */
export async function callMethod(
  path: string,
  input: Readonly<Record<string, unknown>>,
  { caller, catalog, signal }: RunRequest,
  route: Route,
): Promise<unknown> {
  const method = catalog.method(path);
  const skill = method && catalog.skill(method.skill);
  if (method === undefined || skill === undefined) throw unknownMethod(path, catalog);
  return route({
    id: 1,
    runId: randomUUID(),
    caller,
    skill,
    method,
    args: [input],
    signal: signal ?? new AbortController().signal,
    log: () => {},
    progress: () => {},
    note: () => {},
    ended: () => {},
  });
}

function unknownMethod(path: string, catalog: Catalog): SkillgateError {
  const near = nearest(
    path,
    catalog.methods.map((each) => each.path),
  );
  const hint = near.length > 0 ? `; nearest: ${near.join(", ")}` : "";
  return new SkillgateError("METHOD_UNKNOWN", sentence("METHOD_UNKNOWN", `${path}${hint}`));
}
