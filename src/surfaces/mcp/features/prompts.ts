import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

import { describeUnknownName } from "../../../shared/suggest.ts";
import type { ReadContext } from "../../../model/mcp-features.ts";
import type { Library } from "./resources.ts";

/** The prompt that explains the built-in tools to a model; it is listed first if the caller has them. */
const OWN_PROMPT = {
  name: "use_skills",
  title: "Use skills",
  description: "How to find, describe and call the methods behind this server, with as much of the catalog as fits",
};

export function listPrompts({ offers, hasOwnTools }: Library): readonly { readonly name: string }[] {
  return [...(hasOwnTools ? [OWN_PROMPT] : []), ...[...offers.prompts].map(([name, { item }]) => ({ ...item, name }))];
}

export async function getPrompt(
  name: string,
  args: Readonly<Record<string, string>>,
  library: Library,
  context: ReadContext,
): Promise<unknown> {
  const { view, offers, hasOwnTools } = library;
  const offered = offers.prompts.get(name);
  if (offered !== undefined) {
    const prompt = await offered.offers.prompt(offered.item.name, offered.rewriting.args(args), context);
    return view.secrets.maskValue(offered.rewriting.prompt(prompt));
  }
  if (name !== OWN_PROMPT.name || !hasOwnTools)
    throw unknownPrompt(
      name,
      listPrompts(library).map((prompt) => prompt.name),
    );
  const text = view.systemPrompt({ mode: "tools" });
  return { description: OWN_PROMPT.description, messages: [{ role: "user", content: { type: "text", text } }] };
}

function unknownPrompt(name: string, names: readonly string[]): ProtocolError {
  const { message, suggestions } = describeUnknownName("prompt", name, names);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, { suggestions });
}
