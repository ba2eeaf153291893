import type { SourceStatus } from "../../../providers/sources/index.ts";
import type { CliSession } from "../session.ts";
import { UsageError } from "../usage-error.ts";

/** Finds a source of the settings; `which` is `new` after a change of the settings. */
export async function findSource(
  session: CliSession,
  name: string,
  which: "new" | "old" = "old",
): Promise<SourceStatus> {
  const runtime = await session.openRuntime({ until: "known", which });
  const apis = runtime.listApis();
  const status = apis.find((api) => api.name === name);
  if (status !== undefined) return status;
  const problem = runtime.problems.find(({ error }) => error.includes(`sources.${name}`));
  const names = apis.length === 0 ? "it has none" : `it has ${apis.map((api) => api.name).join(", ")}`;
  throw new UsageError(problem?.error ?? `There is no source ${name} in settings.yaml; ${names}`);
}
