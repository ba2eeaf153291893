import { type CompleteRequest, isSpecType } from "@modelcontextprotocol/server";

import { getMessage } from "../../../errors.ts";
import type { ReadContext, ResourcesAndPrompts } from "../../../model/mcp-features.ts";
import type { Library } from "./resources.ts";

const MAX_VALUES = 100;

/** Completes an argument of a prompt or a template; empty if its values are unknown. */
export async function complete(
  params: CompleteRequest["params"],
  library: Library,
  context: ReadContext,
): Promise<unknown> {
  const { ref, argument } = params;
  if (ref.type === "ref/resource") {
    const own = getBuiltinValues(ref.uri, argument, library);
    if (own !== undefined) return { completion: completeBuiltin(own, argument.value) };
    const [found] = library.offers.find(ref.uri);
    const request = { ...params, ref: { ...ref, uri: found?.uri ?? ref.uri } };
    return completeByServer(found?.offers, request, library, context);
  }
  const offered = library.offers.prompts.get(ref.name);
  const request = { ...params, ref: { ...ref, name: offered?.item.name ?? ref.name } };
  return completeByServer(offered?.offers, request, library, context);
}

async function completeByServer(
  offers: ResourcesAndPrompts | undefined,
  params: Readonly<Record<string, unknown>>,
  library: Library,
  context: ReadContext,
): Promise<unknown> {
  try {
    return toCompletion(await offers?.complete?.(params, context), library);
  } catch (thrown) {
    // A completion is no call of a method, whose errors the router redacts.
    throw new Error(library.view.secrets.maskText(getMessage(thrown)), { cause: thrown });
  }
}

/** Returns the values that a server offers; none if its answer is malformed. */
function toCompletion(answer: unknown, { view }: Library): unknown {
  return isSpecType.CompleteResult(answer) ? view.secrets.maskValue(answer) : NOTHING;
}

const NOTHING = { completion: { values: [], total: 0, hasMore: false } };

function getBuiltinValues(
  uri: string,
  { name }: CompleteRequest["params"]["argument"],
  { view, records }: Library,
): readonly string[] | undefined {
  if (uri.startsWith("skillgate://") && name === "skill") return view.catalog.skills.map((skill) => skill.name);
  return uri.startsWith("run://") && name === "runId" ? records.of(view.caller).map(({ runId }) => runId) : undefined;
}

function completeBuiltin(values: readonly string[], start: string): object {
  const fitting = values.filter((value) => value.toLowerCase().startsWith(start.toLowerCase()));
  return { values: fitting.slice(0, MAX_VALUES), total: fitting.length, hasMore: fitting.length > MAX_VALUES };
}
