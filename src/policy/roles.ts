import { configError, parseDocument } from "../config/index.ts";
import type { Roles } from "../model/caller.ts";
import type { Problem } from "../model/provider.ts";
import { isTextList } from "./fields.ts";

export interface RolesFile {
  readonly roles: Roles;
  readonly problems: readonly Problem[];
}

export const NO_ROLES: RolesFile = { roles: new Map(), problems: [] };

/** Reads a list of scopes for each role, and reports each role that has none. */
export function readRoles(section: object, report: (wrong: string, role: string) => void): Roles {
  const roles = new Map<string, readonly string[]>();
  for (const [role, scopes] of Object.entries(section) as readonly (readonly [string, unknown])[])
    if (isTextList(scopes)) roles.set(role, scopes);
    else {
      const form = `a list of scopes, as in ${role}: [mail:send]`;
      report(`the role "${role}" must be ${form}, not ${JSON.stringify(scopes)}`, role);
    }
  return roles;
}

/** Parses `policies/roles.yaml` of earlier versions, which is the section `roles` of the policy alone. */
export function parseRoles(text: string, label: string): RolesFile {
  const { value, locate } = parseDocument(text, label, "yaml");
  const problems: Problem[] = [];
  const roles = readRoles(value, (wrong, role) => {
    problems.push({ source: label, error: configError(label, wrong, locate([role])).message });
  });
  return { roles, problems };
}
