import { asPage, mayCall } from "../../../model/caller.ts";
import type { Catalog, Skill } from "../../../model/catalog.ts";
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
import { setBounded } from "../../../shared/lru.ts";
import { AddressBook, type AddressOwner } from "../addresses/address-book.ts";
import { getPageUris, getToolMeta } from "../addresses/pages.ts";
import { Rewriting } from "../addresses/rewrite.ts";
import { createProxiedFeatures } from "./proxied-features.ts";

/** The most callers whose addresses are kept. */
const MAX_CALLERS = 1_000;

/** The features of one skill, and how their addresses become those of clients. */
export interface Offering {
  readonly owner: AddressOwner;
  readonly offers: ResourcesAndPrompts;
  readonly rewriting: Rewriting;
}

/** A prompt, and the features that serve it. */
export interface NamedPrompt extends Offering {
  readonly item: McpPrompt;
}

/** Features that may serve an address, with the address at their server. */
export interface FoundOffering extends Offering {
  readonly uri: string;
}

/** Resources and prompts of the skills that a caller may call, by the addresses and names that clients use. */
export interface CallerFeatures {
  readonly resources: readonly McpResource[];
  readonly templates: readonly McpTemplate[];
  readonly prompts: ReadonlyMap<string, NamedPrompt>;
  readonly skills: readonly McpSkill[];
  /** Must be called with the skills that a client gets, before it gets them. */
  showSkills(skills: readonly McpSkill[]): void;
  /** Finds the features that serve an address; several only if none has named it. */
  find(address: string): readonly FoundOffering[];
}

/** The features of skills, as clients get them. */
export interface Features {
  open(view: RuntimeView, requestValues: RequestValues | undefined, names: ToolNames): Promise<CallerFeatures>;
  /** Returns the addresses of a caller, with those of the pages of its tools. */
  getAddresses(view: RuntimeView): AddressBook;
  /** Reads the lists of a server again, which have changed. */
  forget(skill: Skill): void;
}

export function createFeatures(): Features {
  const proxied = createProxiedFeatures();
  const books = new Map<string, AddressBook>();
  const catalogs = new WeakMap<AddressBook, Catalog>();
  const getAddresses = ({ caller, shared }: RuntimeView): AddressBook => {
    const { catalog } = shared.viewFor(asPage(caller));
    const book = books.get(caller.id) ?? new AddressBook();
    setBounded(books, [caller.id, book], MAX_CALLERS);
    if (catalogs.get(book) !== catalog) addPages(book, catalog);
    catalogs.set(book, catalog);
    return book;
  };
  return {
    getAddresses,
    forget: (skill) => proxied.forget(skill),
    async open(view, requestValues, names) {
      const visible = view.catalog.skills.filter(({ name }) => mayCall(view.caller, `${name}.*`));
      const book = getAddresses(view);
      const offering = await Promise.all(
        visible.map(async (owner) => {
          const offers = owner.provided.offers ?? (await proxied.getFeatures(owner, { view, requestValues }));
          return offers === undefined ? [] : [{ owner, offers, rewriting: new Rewriting(book, owner) }];
        }),
      );
      return collectFeatures(offering.flat().toSorted(byName), book, names);
    },
  };
}

/** The pages that the tools of a catalog name. */
function addPages(book: AddressBook, { skills }: Catalog): void {
  for (const skill of skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    for (const uri of skill.methods.flatMap((method) => getPageUris(getToolMeta(method)))) book.toClient(skill, uri);
}

function byName(a: Offering, b: Offering): number {
  return a.owner.name < b.owner.name ? -1 : 1;
}

/** The servers are asked in the order of their names: the first with an address has it as it is. */
function collectFeatures(offering: readonly Offering[], book: AddressBook, names: ToolNames): CallerFeatures {
  const byOwner = new Map(offering.map((each) => [each.owner.name, each]));
  const resources = offering.flatMap(({ owner, offers }) =>
    offers.resources.map((item) => ({ ...underName(item, owner), uri: book.toClient(owner, item.uri) })),
  );
  const skills = offering.map(({ rewriting, offers }) => ({
    offers,
    items: (offers.skills ?? []).map((item) => ({ skill: rewriting.skill(item), uri: item.uri })),
  }));
  const templates = offering.flatMap(({ owner, offers }) =>
    offers.templates.map((item) => ({
      ...underName(item, owner),
      uriTemplate: book.toClientRange(owner, item.uriTemplate),
    })),
  );
  for (const { owner } of offering) book.add(owner);
  // Skills that are not of servers list everything that they have.
  const isServer = (owner: string): boolean => byOwner.get(owner)?.owner.server !== undefined;
  return {
    resources: withoutRepetition(resources),
    templates,
    prompts: collectPrompts(offering, names),
    skills: withoutRepetition(skills.flatMap(({ items }) => items.map(({ skill }) => skill))),
    showSkills(skillsOfClient) {
      const addresses = new Set(skillsOfClient.map(({ uri }) => uri));
      for (const { offers, items } of skills)
        offers.showSkills?.(new Set(items.flatMap(({ skill, uri }) => (addresses.has(skill.uri) ? [uri] : []))));
    },
    find: (address) =>
      book.find(address, isServer).flatMap(({ owner, uri }) => {
        const found = byOwner.get(owner);
        return found === undefined ? [] : [{ ...found, uri }];
      }),
  };
}

function withoutRepetition<Item extends { readonly uri: string }>(items: readonly Item[]): readonly Item[] {
  return [...new Map(items.map((item) => [item.uri, item])).values()];
}

/** A prompt is named `server__prompt`, or by its own name if names are raw and no other prompt has it. */
function collectPrompts(offering: readonly Offering[], names: ToolNames): CallerFeatures["prompts"] {
  const counts = new Map<string, number>();
  for (const { name } of offering.flatMap(({ offers }) => offers.prompts))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map(
    offering.flatMap((each) =>
      each.offers.prompts.map((item) => {
        const isRaw = names === "raw" && counts.get(item.name) === 1;
        return [isRaw ? item.name : `${getName(each.owner)}__${item.name}`, { ...each, item }] as const;
      }),
    ),
  );
}

function getName({ server, name }: AddressOwner): string {
  return server ?? name;
}

/** Prefixes the title with the name of the owner. */
function underName<Item extends { readonly name: string }>(item: Item, owner: AddressOwner): Item {
  const { title } = item as { readonly title?: unknown };
  return { ...item, title: `${getName(owner)}: ${typeof title === "string" ? title : item.name}` };
}
