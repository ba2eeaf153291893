import type { Catalog, Skill } from "../../model/catalog.ts";
import type { RequestValues } from "../../model/requests/request-values.ts";

/** Keys of what skills take from a request, by skill. They contain no values. */
export type RequestKeys = Readonly<Record<string, string>>;

/** Lists the keys for a request; `undefined` if no skill takes anything from it. */
export function listRequestKeys(
  { skills }: Pick<Catalog, "skills">,
  values: RequestValues | undefined,
): RequestKeys | undefined {
  const keys = skills.flatMap((skill) => {
    const key = findRequestKey(skill, values);
    return key === undefined ? [] : [[skill.name, key] as const];
  });
  return keys.length === 0 ? undefined : Object.fromEntries(keys);
}

function findRequestKey({ provided }: Skill, values: RequestValues | undefined): string | undefined {
  try {
    return provided.getRequestKey?.(values);
  } catch {
    return undefined; // the skill cannot be called
  }
}
