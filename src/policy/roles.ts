import { configError, parseDocument } from "../config/index.ts";
import type { Roles } from "../model/caller.ts";
import type { Problem } from "../model/provider.ts";
import { isTextList } from "./fields.ts";

export interface RolesFile {
  readonly roles: Roles;
  readonly problems: readonly Problem[];
}

export const NO_ROLES: RolesFile = { roles: new Map(), problems: [] };

/** Parses `policies/roles.yaml`, which has a list of scopes for each role. */
export function parseRoles(text: string, label: string): RolesFile {
  const { value, locate } = parseDocument(text, label, "yaml");
  const entries = Object.entries(value);
  const wrong = entries.filter(([, scopes]) => !isTextList(scopes));
  return {
    roles: new Map(entries.filter((entry): entry is [string, readonly string[]] => isTextList(entry[1]))),
    problems: wrong.map(([role, scopes]) => {
      const says = `the role "${role}" must be a list of scopes, as in ${role}: [mail:send], not ${JSON.stringify(scopes)}`;
      return { source: label, error: configError(label, says, locate([role])).message };
    }),
  };
}
