import type { RuntimeOptions } from "../options.ts";
import { type ResolvedApprovals, resolveApprovals } from "./approvals.ts";
import { resolveCatalogTokens } from "./catalog-tokens.ts";
import { resolveObservation } from "./observation.ts";
import { parseProfiles } from "./profiles.ts";
import { resolveRehydrate } from "./rehydrate.ts";
import type { RuntimeSettings } from "./runtime-settings.ts";
import { parseRecordSettings } from "./runs.ts";
import { resolveTypecheck } from "./typecheck.ts";

type SectionSettings = ResolvedApprovals &
  Pick<
    RuntimeSettings,
    | "observations"
    | "catalogTokens"
    | "typecheck"
    | "rehydrateSecrets"
    | "audit"
    | "retention"
    | "runs"
    | "problems"
    | "profiles"
  >;

/** Resolves settings that stand in a section of settings.yaml or in an option. Throws `OPTION_INVALID`. */
export function resolveSections(options: RuntimeOptions, sections: RuntimeSettings["sections"]): SectionSettings {
  const { problems: recordProblems, ...records } = parseRecordSettings(sections, options);
  const parts = [
    resolveObservation(options.observe, sections["observe"]),
    resolveCatalogTokens(options.catalogTokens, sections["catalogTokens"]),
    resolveTypecheck(options, sections["typecheck"]),
    resolveRehydrate(options.secrets ?? sections["secrets"]),
    resolveApprovals(options.approvals, sections["approvals"]),
    parseProfiles(sections["profiles"]),
  ] as const;
  const [observations, catalogTokens, typecheck, secrets, approvals, { profiles }] = parts;
  return {
    ...records,
    ...observations,
    ...catalogTokens,
    ...typecheck,
    ...secrets,
    ...approvals,
    profiles,
    problems: [...recordProblems, ...parts.flatMap(({ problems }) => problems)],
  };
}
