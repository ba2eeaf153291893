import { join } from "node:path";

import { createFileCache } from "../../shared/file-cache.ts";
import { toSkillName } from "../../shared/names/skill-names.ts";
import { importTools } from "./catalog/import-tools.ts";
import { findDescription, listingKey, parseListing } from "./catalog/server-listing.ts";
import type { ServerConfig } from "./server-config.ts";

/** A server as far as it is known before it is started. */
export interface KnownServer {
  /** The name of its skill. */
  readonly skill: string;
  /** Empty if it is not known. */
  readonly description: string;
  /** The names of its methods in an earlier listing; empty without one. */
  readonly methods: readonly string[];
}

/** Describes the servers of a configuration that are to be started, without starting them. Of two with one skill, the first is. */
export function describeKnownServers(
  configs: readonly ServerConfig[],
  stateDir: string | undefined,
): readonly KnownServer[] {
  const listings = stateDir === undefined ? undefined : createFileCache(join(stateDir, LISTINGS));
  const configBySkill = new Map(
    configs
      .filter(({ enabled, obstacle }) => enabled && obstacle === undefined)
      .map((config) => [config.skillName ?? toSkillName(config.name), config] as const)
      .toReversed(),
  );
  return [...configBySkill].toReversed().map(([skill, config]) => {
    const listing = parseListing(listings?.get(listingKey(config)));
    return {
      skill,
      description: findDescription(config, listing) ?? "",
      methods: importTools(listing?.tools ?? [], config).tools.flatMap(({ method }) =>
        method.isOnlyForPages === true ? [] : [method.name],
      ),
    };
  });
}

/** The folder of the listings of servers, in the folder of the user's state. */
export const LISTINGS = "servers";
