import { type ArgumentProblem, isPlainObject } from "../../model/arguments.ts";
import type { Method } from "../../model/catalog.ts";
import { UNKNOWN } from "../../model/plan.ts";
import { RESPONSE_ARGUMENT } from "../../model/skill.ts";
import { formatMethodAccess } from "../../shared/names/method-paths.ts";
import type { Host } from "../context.ts";

/** Finds the problems of a call of `pages`: the arguments of the method by name, then how many items and pages are wanted. */
export function findPageProblems(method: Method, values: readonly unknown[], host: Host): readonly ArgumentProblem[] {
  const [args, options, ...others] = values;
  if (others.length > 0) return [createProblem("_root", "takes the arguments and { items, pages }, nothing more")];
  if (args !== undefined && args !== UNKNOWN && !isPlainObject(args))
    return [createProblem("_root", "takes the arguments by name, in an object")];
  return [...host.problems(method, args === undefined ? [] : [args]), ...findOptionProblems(options)];
}

function findOptionProblems(options: unknown): readonly ArgumentProblem[] {
  if (options === undefined || options === UNKNOWN) return [];
  if (!isPlainObject(options)) return [createProblem("_root", "takes { items, pages } after the arguments")];
  return Object.entries(options).flatMap(([name, value]) => {
    if (name !== "items" && name !== "pages")
      return [createProblem(name, "is not an option of pages, valid are items, pages")];
    const isFit = value === UNKNOWN || value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1);
    return isFit ? [] : [createProblem(name, "must be a whole number of at least 1")];
  });
}

function createProblem(field: string, reason: string): ArgumentProblem {
  return { field, type: "type_mismatch", reason, suggestions: [] };
}

/** The arguments of the calls of `pages`: each of them has how much is still wanted, which is known only at run time. */
export function toPageArguments(values: readonly unknown[] | undefined): readonly unknown[] | undefined {
  const [args] = values ?? [];
  if (!(args === undefined || isPlainObject(args))) return undefined;
  return [{ ...args, [RESPONSE_ARGUMENT]: UNKNOWN }];
}

export function formatPagesCall({ path, parameters }: Method): string {
  const required = parameters.filter((each) => each.required).map(({ name }) => name);
  return `${formatMethodAccess(path)}.pages({ ${[...required, "…"].join(", ")} }, { items: 100 })`;
}
