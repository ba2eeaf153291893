import { setBounded } from "../../../shared/lru.ts";
import { getScheme, isReserved, parseOwnAddress, toLabel, toOwnAddress } from "./own-address.ts";

/**
 * The most addresses, and the most ranges of addresses, that one server has as they are, and that are refused to it; further ones
 * get a form of its own, without a search for who else has them.
 */
const MAX_ADDRESSES = 2_000;
const MAX_RANGES = 200;

/** The longest address that is kept, in UTF-16 units. */
const MAX_UNITS = 2_048;

/** The most conversations whose last page is kept. */
const MAX_CONVERSATIONS = 1_000;

/** The most schemes that are kept of one server. */
const MAX_SCHEMES = 50;

/** The most links to the web that are kept, and the most collisions. */
const MAX_LINKS = 2_000;
const MAX_COLLISIONS = 100;

/** Schemes whose addresses no server may answer for another: pages that call tools, and instructions for models. */
const TRUSTED_SCHEMES: ReadonlySet<string> = new Set(["ui", "skill"]);

/** Schemes that clients open themselves. */
const WEB_SCHEMES: ReadonlySet<string> = new Set(["http", "https"]);

/** A server or a skill with resources: what identifies it, and the name for people. */
export interface AddressOwner {
  /** The name of the skill. */
  readonly name: string;
  /** The name of the server. */
  readonly server?: string;
}

/** An address at its server. */
export interface ServerAddress {
  /** The name of the skill. */
  readonly owner: string;
  readonly uri: string;
}

/** Two servers that have one address. */
export interface Collision {
  readonly uri: string;
  /** The names of the skills: the one that has the address as it is, and the one that got another. */
  readonly holder: string;
  readonly owner: string;
  readonly address: string;
}

interface OwnerEntry {
  readonly label: string;
  readonly schemes: Set<string>;
  addresses: number;
  ranges: number;
  /** Addresses in a range of another server, and ranges with something that another one has. */
  readonly refusedAddresses: Set<string>;
  readonly refusedRanges: Set<string>;
}

/**
 * Which server each address of one caller belongs to. The first server that names an address has it as it is, for as long as the
 * book lives; every other one gets an address that says whose it is. So no server can supply what another one has named, whatever
 * it names later.
 */
export class AddressBook {
  /** The skills that have an address as it is. */
  readonly #holders = new Map<string, string>();
  /** The skills that have every address that begins with a text. */
  readonly #ranges = new Map<string, string>();
  readonly #entries = new Map<string, OwnerEntry>();
  readonly #owners = new Map<string, string>();
  /** The last server that linked to a page of the web, where none has it as a resource. */
  readonly #links = new Map<string, string>();
  readonly #collisions = new Map<string, Collision>();

  /** The skills whose pages were read last, by conversation. */
  readonly #lastPages = new Map<string, string>();

  /** The first collisions, in the order in which they were found. */
  get collisions(): readonly Collision[] {
    return [...this.#collisions.values()];
  }

  /** Makes a server known; without that, its addresses cannot be read. */
  add(owner: AddressOwner): void {
    this.#know(owner);
  }

  /** Returns the address that a client gets for an address at its server. */
  toClient(owner: AddressOwner, uri: string): string {
    if (getScheme(uri) === "data") return uri;
    const entry = this.#know(owner);
    this.#keepScheme(entry, uri);
    const holder = this.#holders.get(uri);
    if (holder === owner.name || (holder === undefined && this.#claim(owner.name, entry, uri))) return uri;
    return this.#own(owner, entry, uri);
  }

  /**
   * The same for a link in a result. One to the web stays as it is, whatever others have named, because clients open it
   * themselves.
   */
  toClientLink(owner: AddressOwner, uri: string): string {
    if (!WEB_SCHEMES.has(getScheme(uri))) return this.toClient(owner, uri);
    if (uri.length <= MAX_UNITS) setBounded(this.#links, [uri, owner.name], MAX_LINKS);
    return uri;
  }

  /**
   * Returns the template that a client gets for one at its server. The same for the folder of a skill. A range is given
   * only if no other server has a range or an address in it.
   */
  toClientRange(owner: AddressOwner, template: string): string {
    const entry = this.#know(owner);
    this.#keepScheme(entry, template);
    const start = template.split("{", 1)[0] ?? "";
    const holder = this.#ranges.get(start);
    if (holder === owner.name || (holder === undefined && this.#claimRange(owner.name, entry, start))) return template;
    return this.#own(owner, entry, template);
  }

  /** Returns the address that stands for no other server, also where the plain one would. */
  toOwn(owner: AddressOwner, uri: string): string {
    return toOwnAddress(this.#know(owner).label, uri);
  }

  /** Returns the servers that an address of a client may belong to, the likeliest first; more than one only if none has named it. */
  find(address: string, isOffering: (owner: string) => boolean): readonly ServerAddress[] {
    const own = parseOwnAddress(address);
    const ownOwner = own && this.#owners.get(own.label);
    if (own !== undefined) return ownOwner === undefined ? [] : [{ owner: ownOwner, uri: own.uri }];
    const holder = this.#holders.get(address) ?? this.#findRange(address) ?? this.#links.get(address);
    if (holder !== undefined) return [{ owner: holder, uri: address }];
    if (isReserved(address)) return [];
    return this.#guess(address, isOffering).map((owner) => ({ owner, uri: address }));
  }

  /** Returns an address of this server as the server has it; any other text stays as it is. */
  toServer(owner: AddressOwner, address: string): string {
    const own = parseOwnAddress(address);
    return own !== undefined && own.label === this.#know(owner).label ? own.uri : address;
  }

  keepLastPage(conversation = "", owner: string): void {
    setBounded(this.#lastPages, [conversation, owner], MAX_CONVERSATIONS);
  }

  /** Returns the skill whose page was read last in a conversation. */
  getLastPage(conversation = ""): string | undefined {
    return this.#lastPages.get(conversation);
  }

  #know(owner: AddressOwner): OwnerEntry {
    const entry = this.#entries.get(owner.name);
    if (entry !== undefined) return entry;
    const label = toLabel(owner);
    const refused = { refusedAddresses: new Set<string>(), refusedRanges: new Set<string>() };
    const added: OwnerEntry = { label, schemes: new Set(), addresses: 0, ranges: 0, ...refused };
    this.#entries.set(owner.name, added);
    this.#owners.set(label, owner.name);
    return added;
  }

  #keepScheme({ schemes }: OwnerEntry, uri: string): void {
    if (schemes.size < MAX_SCHEMES) schemes.add(getScheme(uri));
  }

  /** Gives an address to a server, unless another one has its range. */
  #claim(name: string, entry: OwnerEntry, uri: string): boolean {
    const { refusedAddresses: refused, addresses } = entry;
    if (isReserved(uri) || uri.length > MAX_UNITS || refused.has(uri)) return false;
    if (addresses >= MAX_ADDRESSES || refused.size >= MAX_ADDRESSES) return false;
    const range = this.#findRange(uri);
    if (range === name) return true;
    if (range === undefined) this.#holders.set(uri, name);
    else refused.add(uri);
    entry.addresses += range === undefined ? 1 : 0;
    return range === undefined;
  }

  #claimRange(name: string, entry: OwnerEntry, start: string): boolean {
    const { refusedRanges: refused, ranges } = entry;
    if (isReserved(start) || start.length > MAX_UNITS || refused.has(start)) return false;
    if (ranges >= MAX_RANGES || refused.size >= MAX_RANGES) return false;
    if (this.#isRangeOfOthers(name, start)) {
      refused.add(start);
      return false;
    }
    this.#ranges.set(start, name);
    entry.ranges += 1;
    return true;
  }

  #isRangeOfOthers(name: string, start: string): boolean {
    for (const [other, holder] of this.#ranges)
      if (holder !== name && (other.startsWith(start) || start.startsWith(other))) return true;
    for (const [uri, holder] of this.#holders) if (holder !== name && uri.startsWith(start)) return true;
    return false;
  }

  #findRange(address: string): string | undefined {
    for (const [start, holder] of this.#ranges) if (address.startsWith(start)) return holder;
    return undefined;
  }

  #findHolderIn(start: string): string | undefined {
    for (const [uri, holder] of this.#holders) if (uri.startsWith(start)) return holder;
    return undefined;
  }

  /** The servers that have addresses with this scheme; else the only one that there is. */
  #guess(address: string, isOffering: (owner: string) => boolean): readonly string[] {
    const scheme = getScheme(address);
    const fitting = [...this.#entries].filter(([, { schemes }]) => schemes.has(scheme)).map(([name]) => name);
    const candidates = fitting.length > 0 ? fitting : [...this.#entries.keys()];
    if (candidates.length > 1 && (fitting.length === 0 || TRUSTED_SCHEMES.has(scheme))) return [];
    return candidates.filter(isOffering).toSorted((a, b) => (a < b ? -1 : 1));
  }

  #own(owner: AddressOwner, entry: OwnerEntry, uri: string): string {
    const address = toOwnAddress(entry.label, uri);
    if (this.#collisions.size >= MAX_COLLISIONS || this.#collisions.has(address)) return address;
    const holder = this.#holders.get(uri) ?? this.#findRefuser(entry, uri);
    if (holder !== undefined && holder !== owner.name)
      this.#collisions.set(address, { uri, holder, owner: owner.name, address });
    return address;
  }

  /** Finds the server for which an address, a template or a folder was refused. */
  #findRefuser({ refusedAddresses, refusedRanges }: OwnerEntry, uri: string): string | undefined {
    if (refusedAddresses.has(uri)) return this.#findRange(uri);
    const start = uri.split("{", 1)[0] ?? "";
    return refusedRanges.has(start) ? (this.#findRange(start) ?? this.#findHolderIn(start)) : undefined;
  }
}
