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
  throw createEntryError(runtime, "sources", name);
}

/** The entries of a section as they are written, also those that have mistakes. */
export function readSection({ sections }: Pick<Runtime, "sections">, section: EntrySection): Record<string, unknown> {
  return toRecord(sections[section]);
}

type EntrySection = "accounts" | "sources";

/** Creates the error for an entry that cannot be used: it does not exist, or it has a mistake. */
export function createEntryError(runtime: Runtime, section: EntrySection, name: string): UsageError {
  const names = Object.keys(readSection(runtime, section));
  const [problem = findHeldSettings(runtime, section)] = names.includes(name)
    ? listSettingProblems(runtime, section, name)
    : [];
  const existing = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
  const kind = section === "accounts" ? "account" : "source";
  return new UsageError(problem?.error ?? `There is no ${kind} ${name} in settings.yaml; ${existing}`);
}

/** The problem of a section whose entries are held, and so are not among the settings. */
function findHeldSettings({ heldProblem }: Runtime, section: EntrySection): Problem | undefined {
  const isHeld = ["settings.yaml", `settings ${section}.`].some((part) => heldProblem?.error.includes(part));
  return isHeld ? heldProblem : undefined;
}

/** The problems of a section of the settings because of which it has no entries, or not the one with this name. */
export function listSettingProblems(
  { problems }: Pick<Runtime, "problems">,
  section: EntrySection,
  name?: string,
): readonly Problem[] {
  const prefix = `: ${section}${name === undefined ? "" : `.${name}`}`;
  return problems.filter(({ source, error }) => {
    const at = error.indexOf(prefix);
    return source.endsWith("settings.yaml") && at >= 0 && !/[\w-]/.test(error.charAt(at + prefix.length));
  });
}
