import type { SourceStatus } from "../../../providers/sources/index.ts";
import { toRecord } from "../../../model/json.ts";
import type { Problem } from "../../../model/provider.ts";
import type { Runtime } from "../../../runtime.ts";
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
  const names = Object.keys(toRecord(runtime.sections["sources"]));
  const [problem = runtime.heldProblem] = names.includes(name) ? listSettingProblems(runtime, "sources", name) : [];
  const existing = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  throw new UsageError(problem?.error ?? `There is no source ${name} in settings.yaml; ${existing}`);
}

/** The problems of a section of the settings because of which it has no entries, or not the one with this name. */
export function listSettingProblems(
  { problems }: Pick<Runtime, "problems">,
  section: "accounts" | "sources",
  name?: string,
): readonly Problem[] {
  const prefix = `: ${section}${name === undefined ? "" : `.${name}`}`;
  return problems.filter(({ source, error }) => {
    const at = error.indexOf(prefix);
    return source.endsWith("settings.yaml") && at >= 0 && !/[\w-]/.test(error.charAt(at + prefix.length));
  });
}
