import type { Outcome, Violation } from "../../model/outcome.ts";
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
    if (providers.isComplete || outcome.kind !== "refused" || !outcome.violations.some(isUnknown)) break;
    await wait();
    outcome = await run();
  }
  return outcome;
}

/** The names by which a program asks for methods. */
const QUESTION = /search_?skills|describe/i;

function isUnknown({ code }: Violation): boolean {
  return (
    code === "DEVICE_UNKNOWN" || code === "SKILL_UNKNOWN" || code === "METHOD_UNKNOWN" || code === "GLOBAL_UNKNOWN"
  );
}
