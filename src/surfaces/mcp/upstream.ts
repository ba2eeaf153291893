import type { Caller } from "../../model/caller.ts";
import type { Skill } from "../../model/catalog.ts";
import { isRecord } from "../../model/json.ts";
import type { OfferContext, OfferedPrompt, OfferedResource, OfferedTemplate, Offers } from "../../model/offers.ts";
import type { Runtime } from "../../runtime.ts";
import { blocksOf } from "./blocks.ts";
import { within } from "./within.ts";

/** A server that does not say what it has within this time is left out of the lists. */
const LIST_MS = 5_000;

/** What a server has said it has is believed for so long. */
const FRESH_MS = 10_000;

/** The resources and prompts of MCP servers, by the methods that their skills have for them. */
export interface Upstream {
  offersOf(skill: Skill, caller: Caller): Promise<Offers | undefined>;
}

export function createUpstream(runtime: Runtime): Upstream {
  const kept = new WeakMap<Skill, Map<string, { readonly until: number; readonly offers: Promise<Offers> }>>();
  return {
    offersOf(skill, caller) {
      if (skill.kind !== "mcp" || !METHODS.some((name) => has(skill, name))) return Promise.resolve(undefined);
      const known = kept.get(skill) ?? new Map<string, { readonly until: number; readonly offers: Promise<Offers> }>();
      kept.set(skill, known);
      const fresh = known.get(caller.id);
      if (fresh !== undefined && fresh.until > performance.now()) return fresh.offers;
      const offers = askServer(runtime, skill, caller);
      known.set(caller.id, { until: performance.now() + FRESH_MS, offers });
      return offers;
    },
  };
}

const METHODS = ["resources_list", "prompts_list"];

function has(skill: Skill, method: string): boolean {
  return skill.methods.some(({ name }) => name === method);
}

async function askServer(runtime: Runtime, skill: Skill, caller: Caller): Promise<Offers> {
  const list = async (method: string, key: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    if (!has(skill, method)) return [];
    let items: unknown = [];
    const asked = runtime
      .call(`${skill.name}.${method}`, {}, { caller })
      .then((value) => (items = runtime.secrets.maskValue(value)));
    await within(LIST_MS, asked);
    return (Array.isArray(items) ? items : []).filter(isRecord).filter((item) => typeof item[key] === "string");
  };
  const [resources, templates, prompts] = await Promise.all([
    list("resources_list", "uri"),
    list("resources_templates", "uriTemplate"),
    list("prompts_list", "name"),
  ]);
  return {
    // What is listed has the key that it was chosen by, and a name to show.
    resources: resources.map((item) => ({ name: item["uri"], ...item }) as OfferedResource),
    templates: templates.map((item) => ({ name: item["uriTemplate"], ...item }) as OfferedTemplate),
    prompts: prompts as readonly OfferedPrompt[],
    read: async (uri, context) => {
      const value = await runtime.call(`${skill.name}.resources_read`, { uri }, optionsFor(context));
      const mimeType = resources.find((item) => item["uri"] === uri)?.["mimeType"];
      return { contents: contentsOf(uri, mimeType, value) };
    },
    prompt: async (name, values, context) =>
      promptOf(await runtime.call(`${skill.name}.prompts_get`, { name, values }, optionsFor(context))),
  };
}

function optionsFor({ caller, signal, client, log, progress }: OfferContext): Parameters<Runtime["call"]>[2] {
  return {
    caller,
    signal,
    follower: {
      ...(client !== undefined && { client }),
      log: (_path, level, text) => log(level, text),
      progress: (_path, done, total, text) => progress(done, total, text),
    },
  };
}

/** A resource as a method gives it, in the protocol's own form again. */
function contentsOf(uri: string, mimeType: unknown, value: unknown): readonly unknown[] {
  return [value].flat().map((part: unknown) => {
    if (!isRecord(part)) return { uri, ...(typeof mimeType === "string" && { mimeType }), text: String(part) };
    const { type: _type, data, ...rest } = part;
    return { uri, ...rest, ...(typeof data === "string" && { blob: data }) };
  });
}

/** The same for a prompt. */
function promptOf(value: unknown): unknown {
  const { messages = [], ...rest } = isRecord(value) ? value : {};
  return {
    ...rest,
    messages: [messages].flat().map((message: unknown) => {
      const { role, content } = isRecord(message) ? message : {};
      const [block] = typeof content === "string" ? [{ type: "text", text: content }] : (blocksOf(content) ?? []);
      return { role, content: block ?? content };
    }),
  };
}
