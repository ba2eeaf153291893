import type { CompleteRequest } from "@modelcontextprotocol/server";

import type { OfferContext } from "../../model/offers.ts";
import { type Library, offersFor } from "./resources.ts";

const MOST_VALUES = 100;

/** What an argument of a prompt or of a template may be; nothing where nobody knows. */
export async function complete(
  params: CompleteRequest["params"],
  library: Library,
  context: OfferContext,
): Promise<unknown> {
  const { ref, argument } = params;
  if (ref.type === "ref/resource") {
    const own = ownValues(ref.uri, argument, library);
    if (own !== undefined) return { completion: ownCompletion(own, argument.value) };
    const template = library.offers.templates.find(({ item }) => item.uriTemplate === ref.uri);
    const offers = template?.offers ?? offersFor(ref.uri, library.offers);
    return (await offers?.complete?.({ ...params }, context)) ?? NOTHING;
  }
  const offered = library.offers.prompts.get(ref.name);
  const asked = { ...params, ref: { ...ref, name: offered?.item.name ?? ref.name } };
  return (await offered?.offers.complete?.(asked, context)) ?? NOTHING;
}

const NOTHING = { completion: { values: [], total: 0, hasMore: false } };

function ownValues(
  uri: string,
  { name }: CompleteRequest["params"]["argument"],
  { runtime, caller, records }: Library,
): readonly string[] | undefined {
  if (uri.startsWith("skillgate://") && name === "skill")
    return runtime.catalogFor(caller).skills.map((skill) => skill.name);
  return uri.startsWith("run://") && name === "runId" ? records.of(caller).map(({ runId }) => runId) : undefined;
}

function ownCompletion(values: readonly string[], start: string): object {
  const fitting = values.filter((value) => value.toLowerCase().startsWith(start.toLowerCase()));
  return { values: fitting.slice(0, MOST_VALUES), total: fitting.length, hasMore: fitting.length > MOST_VALUES };
}
