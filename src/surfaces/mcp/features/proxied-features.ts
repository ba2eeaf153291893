import { ResourceNotFoundError } from "@modelcontextprotocol/server";

import { findProtocolMethod, type Skill } from "../../../model/catalog.ts";
import { isRecord } from "../../../model/json.ts";
import type {
  ReadContext,
  McpPrompt,
  McpResource,
  McpSkill,
  McpTemplate,
  ResourcesAndPrompts,
} from "../../../model/mcp-features.ts";
import type { RunObserver } from "../../../model/run-observer.ts";
import type { ShowSkills } from "../../../model/skill.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import { setBounded } from "../../../shared/lru.ts";
import { toContentBlocks } from "../content-blocks.ts";
import { waitAtMost } from "../../../shared/run-with-timeout.ts";

/** Milliseconds that a server has to list its features before they are left out. */
const LIST_MS = 5_000;

/** Milliseconds that the lists of a server are cached. */
const FRESH_MS = 10_000;

/** Maximum number of lists of one server that are cached. */
const MAX_ENTRIES = 1_000;

/** The caller that asks for features, with the headers and session values of its request. */
interface Asker {
  readonly view: RuntimeView;
  readonly requestValues: ReadContext["requestValues"] | undefined;
}

/** Resources and prompts of MCP servers, read through the methods of their skills. */
export interface ProxiedFeatures {
  /** Forgets the lists of a server, which have changed. */
  forget(skill: Skill): void;
  getFeatures(skill: Skill, asker: Asker): Promise<ResourcesAndPrompts | undefined>;
}

export function createProxiedFeatures(): ProxiedFeatures {
  // Callers may have different parts of a skill.
  const cache = new WeakMap<Skill["provided"], WeakMap<Skill, Map<string, CachedOffers>>>();
  const getEntries = (skill: Skill): Map<string, CachedOffers> => {
    const parts = cache.get(skill.provided) ?? new WeakMap<Skill, Map<string, CachedOffers>>();
    cache.set(skill.provided, parts);
    const entries = parts.get(skill) ?? new Map<string, CachedOffers>();
    parts.set(skill, entries);
    return entries;
  };
  return {
    forget: ({ provided }) => void cache.delete(provided),
    getFeatures(skill, asker) {
      const key = createKey(skill, asker);
      if (key === undefined) return Promise.resolve(undefined);
      if (!LISTS.some((list) => findProtocolMethod(skill, list))) return Promise.resolve(undefined);
      const entries = getEntries(skill);
      const fresh = entries.get(key);
      if (fresh !== undefined && fresh.until > performance.now()) return fresh.offers;
      const offers = askServer(skill, asker);
      setBounded(entries, [key, { until: performance.now() + FRESH_MS, offers }], MAX_ENTRIES);
      return offers;
    },
  };
}

interface CachedOffers {
  readonly until: number;
  readonly offers: Promise<ResourcesAndPrompts>;
}

/** The features of a server depend on what it takes from the request and on its account; `undefined` if one is missing. */
function createKey({ provided }: Skill, { view: { caller }, requestValues }: Asker): string | undefined {
  try {
    return JSON.stringify([caller.id, provided.getRequestKey?.(requestValues, caller) ?? ""]);
  } catch {
    return undefined; // a call of the server says what the request lacks
  }
}

const LISTS = ["resources/list", "prompts/list", "skills/list"];

async function askServer(skill: Skill, { view, requestValues }: Asker): Promise<ResourcesAndPrompts> {
  let showSkills: ShowSkills | undefined;
  const observer: RunObserver = {
    ...(requestValues !== undefined && { requestValues }),
    deferSkills: (show) => (showSkills = show),
  };
  const list = async (protocolMethod: string, key: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const method = findProtocolMethod(skill, protocolMethod);
    if (method === undefined) return [];
    let items: unknown = [];
    const listing = view.call(method.path, {}, { observer }).then((value) => (items = view.secrets.maskValue(value)));
    await waitAtMost(LIST_MS, listing);
    return (Array.isArray(items) ? items : []).filter(isRecord).filter((item) => typeof item[key] === "string");
  };
  const callMethod = async (protocolMethod: string, args: object, context: ReadContext): Promise<MethodAnswer> => {
    const path = findProtocolMethod(skill, protocolMethod)?.path ?? `${skill.name}.${protocolMethod}`;
    let wire: unknown;
    const { observer, ...options } = optionsFor(context);
    const onWire = { ...observer, wire: (result: unknown) => void (wire = result) };
    const asking = view.shared.viewFor(context.caller);
    const value = await asking.call(path, args as never, { ...options, observer: onWire });
    return { value, wire };
  };
  const { complete, subscribe } = skill.provided;
  const [resources, templates, prompts, skills] = await Promise.all([
    list("resources/list", "uri"),
    list("resources/templates/list", "uriTemplate"),
    list("prompts/list", "name"),
    list("skills/list", "uri"),
  ]);
  return {
    // list() keeps only items with this key, which is also the default name.
    resources: resources.map((item) => ({ name: item["uri"], ...item }) as McpResource),
    templates: templates.map((item) => ({ name: item["uriTemplate"], ...item }) as McpTemplate),
    prompts: prompts as readonly McpPrompt[],
    skills: skills as readonly McpSkill[],
    showSkills: (uris) => showSkills?.(uris),
    read: async (uri, context) => {
      const { value, wire } = await callMethod("resources/read", { uri }, context);
      if (isRecord(wire) && Array.isArray(wire["contents"])) return wire;
      const mimeType = resources.find((item) => item["uri"] === uri)?.["mimeType"];
      return { contents: toContents(uri, mimeType, value) };
    },
    prompt: async (name, values, context) => {
      const { value, wire } = await callMethod("prompts/get", { name, values }, context);
      return isRecord(wire) && Array.isArray(wire["messages"]) ? wire : toPrompt(value);
    },
    skill: async (uri, context) => (await callMethod("skills/get", { uri }, context)).wire,
    ...(findProtocolMethod(skill, "resources/directory/read") && {
      directory: async (uri, context) => {
        const { value } = await callMethod("resources/directory/read", { uri }, context);
        return Array.isArray(value) ? value : [];
      },
    }),
    ...(subscribe !== undefined && {
      subscribe: async (uri, listener, context) => {
        const asking = view.shared.viewFor(context.caller);
        await asking.countRequest();
        // A caller that may not read a resource learns nothing of its changes, also after its rights have changed.
        const mayRead = (): boolean => asking.mayCall(findProtocolMethod(skill, "resources/read")?.path ?? "");
        if (!mayRead()) throw new ResourceNotFoundError(uri);
        return subscribe(uri, (changed) => mayRead() && listener(changed), context);
      },
    }),
    ...(complete !== undefined && {
      complete: async (params, context) =>
        findProtocolMethod(skill, getReader(params)) ? complete(params, context) : undefined,
    }),
  };
}

/** The request whose permission covers a completion. */
function getReader({ ref }: Readonly<Record<string, unknown>>): string {
  return isRecord(ref) && ref["type"] === "ref/prompt" ? "prompts/get" : "resources/read";
}

/** A result as the value of its method, and as the server sent it; `undefined` if it comes from a cache. */
interface MethodAnswer {
  readonly value: unknown;
  readonly wire: unknown;
}

function optionsFor({ signal, client, requestValues, log, progress }: ReadContext): MethodCallOptions {
  return {
    signal,
    observer: {
      ...(client !== undefined && { client }),
      ...(requestValues !== undefined && { requestValues }),
      log: (_path, ...words) => log(...words),
      progress: (_path, done, total, text) => progress(done, total, text),
    },
  };
}

type MethodCallOptions = NonNullable<Parameters<RuntimeView["call"]>[2]>;

/** Converts the value of `resources_read` back to the contents of the protocol. */
function toContents(uri: string, mimeType: unknown, value: unknown): readonly unknown[] {
  return [value].flat().map((part: unknown) => {
    if (!isRecord(part)) return { uri, ...(typeof mimeType === "string" && { mimeType }), text: String(part) };
    const { type: _type, data, ...rest } = part;
    return { uri, ...rest, ...(typeof data === "string" && { blob: data }) };
  });
}

/** Converts the value of `prompts_get` back to a prompt of the protocol. */
function toPrompt(value: unknown): unknown {
  const { messages = [], ...rest } = isRecord(value) ? value : {};
  return {
    ...rest,
    messages: [messages].flat().map((message: unknown) => {
      const { role, content } = isRecord(message) ? message : {};
      const [block] =
        typeof content === "string" ? [{ type: "text", text: content }] : (toContentBlocks(content) ?? []);
      return { role, content: block ?? content };
    }),
  };
}
