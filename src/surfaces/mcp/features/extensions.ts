import { APPS_EXTENSION } from "../../../model/client-requests.ts";
import { type Catalog, findProtocolMethod, type Skill } from "../../../model/catalog.ts";
import { getPageMeta, getToolMeta } from "../addresses/pages.ts";
import { type Extensions, SKILLS_EXTENSION } from "../opening/protocol.ts";

/** The answers for catalogs, which are frozen. */
const cache = new WeakMap<Catalog, Extensions>();

/** Returns the extensions that a catalog needs: MCP Apps if a tool has a page or a server announces them, and skills if there are some. */
export function getExtensions(catalog: Catalog): Extensions {
  const answer = cache.get(catalog) ?? {
    ...(catalog.skills.some(hasApps) && { [APPS_EXTENSION]: {} }),
    ...(catalog.skills.some(hasSkills) && { [SKILLS_EXTENSION]: { directoryRead: true } }),
  };
  cache.set(catalog, answer);
  return answer;
}

function hasApps({ provided, methods }: Skill): boolean {
  return provided.hasApps === true || methods.some((method) => getPageMeta(getToolMeta(method)) !== undefined);
}

/** True for a server that has announced skills, which have a method that lists them. */
function hasSkills(skill: Skill): boolean {
  return skill.provided.offers?.skills !== undefined || findProtocolMethod(skill, "skills/list") !== undefined;
}
