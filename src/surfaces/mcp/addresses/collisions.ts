import { OWNER } from "../../../model/caller.ts";
import type { Problem } from "../../../model/provider.ts";
import type { SharedRuntime } from "../../../runtime/api/view.ts";
import { truncateText } from "../../../shared/format-text.ts";
import { createFeatures } from "../features/caller-features.ts";

/** The most collisions that are described. */
const MAX_DESCRIBED = 20;

/** The most characters of an address in a sentence. */
const MAX_UNITS = 200;

/** Lists the resources of all servers, and describes the addresses that several of them have. */
export async function findCollisions(runtime: SharedRuntime): Promise<readonly Problem[]> {
  const view = runtime.viewFor(OWNER);
  const features = createFeatures();
  await features.open(view, undefined, "qualified");
  const getServer = (skill: string): string => view.catalog.skill(skill)?.server ?? skill;
  const { collisions } = features.getAddresses(view);
  const problems = collisions.slice(0, MAX_DESCRIBED).map(({ uri, holder, owner, address }) => ({
    source: getServer(owner),
    error: `${shorten(uri)} is an address of the servers ${getServer(holder)} and ${getServer(owner)}; clients get that of ${getServer(owner)} as ${shorten(address)}`,
  }));
  const rest = collisions.length - problems.length;
  return rest === 0
    ? problems
    : [...problems, { source: "", error: `${rest} more addresses are those of two servers` }];
}

function shorten(address: string): string {
  return truncateText(address, MAX_UNITS);
}
