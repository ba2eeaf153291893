import type { Outcome, Violation } from "../../model/outcome.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import type { Providers } from "../open-providers.ts";

/** Runs a program. One that needs providers which are still loading waits for them. */
export async function runWhenKnown(
  source: string,
  run: () => Promise<Outcome>,
  providers: Providers,
): Promise<Outcome> {
  // Discovery calls must see every server, so wait until all are listed.
  if (!providers.isComplete && QUESTION.test(source)) await providers.whenKnown();
  let outcome = await run();
  // A name may be unknown only because its provider is still loading.
  for (const wait of [() => providers.open(), () => providers.whenKnown()]) {
    if (providers.isComplete || !isRefusedUnknown(outcome)) break;
    await wait();
    outcome = await run();
  }
  const reached = isRefusedUnknown(outcome) ? providers.reach(source) : undefined;
  if (reached === undefined) return outcome;
  await waitAtMost(REACH_MS, reached);
  return run();
}

/** How long a program waits for a server that could not be reached before. */
const REACH_MS = 5_000;

function isRefusedUnknown(outcome: Outcome): boolean {
  return outcome.kind === "refused" && outcome.violations.some(isUnknown);
}

/** The names by which a program asks for methods. */
const QUESTION = /search_?skills|describe/i;

function isUnknown({ code }: Violation): boolean {
  return (
    code === "DEVICE_UNKNOWN" || code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN" || code === "GLOBAL_UNKNOWN"
  );
}
