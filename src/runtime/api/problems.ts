import { sentence } from "../../errors.ts";
import type { Problem } from "../../model/provider.ts";
import type { RuntimeParts } from "./parts.ts";

/** Lists what could not be used, and why, without secrets. */
export function listProblems({
  storeProblems,
  database,
  fromFiles,
  sources,
  registry,
  skillSettings,
  policy,
  secrets,
  executors,
}: RuntimeParts): readonly Problem[] {
  const fromSkills = registry.catalog.skills.flatMap(({ provided }) => skillSettings.of(provided).problems);
  const offline = executors?.failure;
  const fromExecutors: readonly Problem[] =
    offline === undefined ? [] : [{ source: "executors", error: sentence("EXECUTORS_OFFLINE", offline) }];
  const { failure } = database.health;
  return [
    ...fromFiles(),
    ...fromExecutors,
    ...storeProblems,
    ...(failure === undefined ? [] : [{ source: "store", error: failure.message, isForAllRuns: true as const }]),
    ...policy.problems,
    ...sources.problems,
    ...fromSkills,
  ].map((problem) => ({
    ...problem,
    error: secrets.maskText(problem.error),
    ...(problem.fix !== undefined && { fix: secrets.maskText(problem.fix) }),
  }));
}
