import { mayCall } from "../../../model/caller.ts";
import type {
  McpPrompt,
  McpResource,
  McpSkill,
  McpTemplate,
  ResourcesAndPrompts,
} from "../../../model/mcp-features.ts";
import type { ToolNames } from "../../../model/tools/exposure.ts";
import type { RequestValues } from "../../../model/requests/request-values.ts";
import type { RuntimeView } from "../../../runtime/api/view.ts";
import type { ProxiedFeatures } from "./proxied-features.ts";

/** A resource, template or prompt, and the skill features that serve it. */
export interface NamedFeature<Item> {
  readonly item: Item;
  readonly offers: ResourcesAndPrompts;
}

/** Resources and prompts of the skills that a caller may call, by the names that clients use. */
export interface CallerFeatures {
  readonly resources: ReadonlyMap<string, NamedFeature<McpResource>>;
  readonly templates: readonly NamedFeature<McpTemplate>[];
  readonly prompts: ReadonlyMap<string, NamedFeature<McpPrompt>>;
  readonly skills: ReadonlyMap<string, NamedFeature<McpSkill>>;
}

/**
 * Collects the features of a caller's skills. Of two resources with the same URI, that of the first skill by name
 * wins. A prompt is named `server__prompt`, or by its own name if names are raw and no other prompt has it.
 */
export async function getCallerFeatures(
  view: RuntimeView,
  requestValues: RequestValues | undefined,
  names: ToolNames,
  proxied: ProxiedFeatures,
): Promise<CallerFeatures> {
  const { caller, catalog } = view;
  const visible = catalog.skills.filter(({ name }) => mayCall(caller, `${name}.*`));
  const features = await Promise.all(
    visible.map(async (skill) => {
      const offers = skill.provided.offers ?? (await proxied.getFeatures(skill, { view, requestValues }));
      return offers === undefined ? [] : [{ owner: skill.server ?? skill.name, offers }];
    }),
  );
  const offering = features.flat();
  const resources = new Map<string, NamedFeature<McpResource>>();
  for (const { owner, offers } of offering.toReversed()) {
    for (const item of offers.resources) resources.set(item.uri, { item: underName(item, owner), offers });
  }
  return {
    resources,
    templates: offering.flatMap(({ owner, offers }) =>
      offers.templates.map((item) => ({ item: underName(item, owner), offers })),
    ),
    prompts: collectPrompts(offering, names),
    skills: collectSkills(offering),
  };
}

interface OfferingSkill {
  readonly owner: string;
  readonly offers: ResourcesAndPrompts;
}

/** Collects the skills by URI; of two with the same URI, that of the first server by name wins. */
function collectSkills(offering: readonly OfferingSkill[]): CallerFeatures["skills"] {
  return new Map(
    offering
      .toReversed()
      .flatMap(({ offers }) => (offers.skills ?? []).map((item) => [item.uri, { item, offers }] as const)),
  );
}

function collectPrompts(offering: readonly OfferingSkill[], names: ToolNames): CallerFeatures["prompts"] {
  const counts = new Map<string, number>();
  for (const { name } of offering.flatMap(({ offers }) => offers.prompts))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    offering.flatMap(({ owner, offers }) =>
      offers.prompts.map((item) => {
        const isRaw = names === "raw" && counts.get(item.name) === 1;
        return [isRaw ? item.name : `${owner}__${item.name}`, { item, offers }] as const;
      }),
    ),
  );
}

/** Prefixes the title with the name of the owner. */
function underName<Item extends { readonly name: string }>(item: Item, owner: string): Item {
  const { title } = item as { readonly title?: unknown };
  return { ...item, title: `${owner}: ${typeof title === "string" ? title : item.name}` };
}
