import type { Catalog } from "../../model/catalog.ts";
import type { QueryText } from "../../model/skill.ts";
import { createRegistry } from "../../registry/index.ts";
import type { Cassette, CassetteSkill } from "../../runs/index.ts";
import type { RunRequest } from "./run-services.ts";

/** Returns the request with the catalog of a cassette, if the cassette has one: no provider is needed to check a program. */
export function withRecordedSkills({ skills }: Cassette, request: RunRequest): RunRequest {
  return skills === undefined
    ? request
    : { ...request, catalog: createCatalog(skills), whyUnavailable: () => undefined };
}

/** A cassette has no schemas of query languages. The right to a part opens its method all the same. */
const UNREAD_TEXT: QueryText = {
  argument: "",
  variables: "",
  check: () => Promise.reject(new TypeError("A text of a cassette is not checked")),
};

/** Catalogs of cassettes have negative versions: verdicts are cached by version, and those of a runtime are positive. */
let lastVersion = 0;

function createCatalog(skills: readonly CassetteSkill[]): Catalog {
  const registry = createRegistry();
  for (const skill of skills) {
    const methods = skill.methods.map((method) =>
      method.queryText === undefined ? method : { ...method, queryText: UNREAD_TEXT },
    );
    const invoke = (): Promise<never> => Promise.reject(new TypeError("A method of a cassette is not called"));
    registry.register({ ...skill, methods, description: "", source: "cassette", invoke });
  }
  const { catalog } = registry;
  return Object.freeze({ ...catalog, version: --lastVersion });
}
