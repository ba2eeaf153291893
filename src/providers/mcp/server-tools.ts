import { setImmediate as nextTurn } from "node:timers/promises";

import { getMessage } from "../../errors.ts";
import { isRecord } from "../../model/json.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";
import type { KnownSecrets } from "../../shared/secrets.ts";
import { acceptTools, parseAcceptedTools } from "./catalog/accepted-tools.ts";
import { type CapableTools, findCapableTools, NO_CAPABLE_TOOLS } from "./catalog/capable-tools.ts";
import { importTools } from "./catalog/import-tools.ts";
import { listTools } from "./catalog/list-tools.ts";
import { listingKey, parseListing, type ServerListing } from "./catalog/server-listing.ts";
import { createServerSkill, type ServerSkill } from "./catalog/server-skill.ts";
import type { Connection } from "./connections/connection.ts";
import { listToolsAlone, listToolsAs } from "./connections/list-as.ts";
import type { ManagedConnection } from "./connections/managed-connection.ts";
import { createCallerKey } from "./http/server-account.ts";
import type { ServerConfig } from "./server-config.ts";
import type { ServerOptions } from "./server.ts";

/** Minimum time between two tool listings: some servers announce a change at each listing. */
const REFRESH_PAUSE_MS = 1_000;

/** How the skill of a server makes its calls. */
export interface ServerLinks extends Pick<
  Parameters<typeof createServerSkill>[2],
  "invoke" | "subscribe" | "complete"
> {
  /** Returns the connection that all callers share. */
  readonly getConnection: () => ManagedConnection;
}

/** The tools of one server: listed, stored for the next start, accepted, and offered as a skill. */
export class ServerTools {
  readonly #config: ServerConfig;
  readonly #skillName: string;
  readonly #options: ServerOptions;
  readonly #links: ServerLinks;
  #listing: ServerListing | undefined;
  #offer: ServerSkill | undefined;
  #isStale = false;
  #isRefreshing = false;
  /** True if the tools were listed since the start. */
  isListed = false;

  constructor(config: ServerConfig, skillName: string, options: ServerOptions, links: ServerLinks) {
    this.#config = config;
    this.#skillName = skillName;
    this.#options = options;
    this.#links = links;
  }

  get listing(): ServerListing | undefined {
    return this.#listing;
  }

  get offer(): ServerSkill | undefined {
    return this.#offer;
  }

  /** Takes the listing of an earlier run, and returns it; `undefined` if there is no such listing. */
  takeStored(): ServerListing | undefined {
    const { cache, secrets } = this.#options;
    const stored = parseListing(secrets.maskValue(cache?.get(listingKey(this.#config))));
    if (stored !== undefined) this.#take(stored);
    return stored;
  }

  /** Accepts the tools as the server lists them now. */
  accept(): void {
    if (this.#listing === undefined) return;
    const { tools } = importTools([...this.#listing.tools, ...(this.#listing.capable?.tools ?? [])], this.#config);
    this.#options.pins.set(listingKey(this.#config), Object.fromEntries(acceptTools(tools)));
    this.#take(this.#listing);
    this.#options.onChange();
  }

  /** Lists the tools over a connection. With `requestSecrets`, those of the request are masked in what all callers see. */
  async list(connection: Connection, requestSecrets?: KnownSecrets): Promise<void> {
    const timeout = AbortSignal.timeout(this.#options.connectTimeoutMs);
    const listed = await listTools(connection, AbortSignal.any([this.#links.getConnection().closing, timeout]));
    await nextTurn(); // each step of reading a long list has a turn of its own
    const { protocolVersion, server, capabilities, instructions, era } = connection;
    const capable = await this.#findCapable(connection, listed.tools);
    const updated = {
      ...listed,
      protocolVersion,
      server,
      capabilities,
      instructions,
      era,
      listedAt: Date.now(),
      ...(capable && { capable }),
    };
    const masked = this.#options.secrets.maskValue(updated);
    await nextTurn();
    const listing = requestSecrets === undefined ? masked : maskDescriptions(masked, requestSecrets);
    this.#take(listing);
    this.isListed = true;
    this.#options.cache?.set(listingKey(this.#config), listing);
  }

  /**
   * Finds the tools for clients with capabilities, as far as this connection can list them. Before 2026-07-28 that takes another
   * connection: what is known stays as long as the server lists the same tools.
   */
  async #findCapable(connection: Connection, tools: readonly unknown[]): Promise<CapableTools | undefined> {
    if (connection.isStateless)
      return this.#findCapableTools(tools, (requests) =>
        listToolsAs(connection, requests, this.#options.connectTimeoutMs),
      );
    const isSame = JSON.stringify(this.#listing?.tools) === JSON.stringify(this.#options.secrets.maskValue(tools));
    return isSame ? this.#listing?.capable : undefined;
  }

  /** Finds no tools if the server fails: they are a part of the list that it is not asked for otherwise. */
  async #findCapableTools(...search: Parameters<typeof findCapableTools>): Promise<CapableTools> {
    return findCapableTools(...search).catch((thrown: unknown) => {
      const { log, secrets } = this.#options;
      log(this.#config.name, "debug", secrets.maskText(`tools/list with capabilities failed: ${getMessage(thrown)}`));
      return NO_CAPABLE_TOOLS;
    });
  }

  /** Lists the tools for clients with capabilities over connections of their own. */
  async listCapable(): Promise<void> {
    const listing = this.#listing;
    if (listing === undefined) return;
    const found = await this.#findCapableTools(listing.tools, (requests) =>
      listToolsAlone(this.#config, requests, {
        options: this.#options,
        era: parseEra(listing),
        closing: this.#links.getConnection().closing,
      }),
    );
    if (this.#listing !== listing) return;
    const updated = { ...listing, capable: this.#options.secrets.maskValue(found) };
    this.#take(updated);
    this.#options.cache?.set(listingKey(this.#config), updated);
    if (found.tools.length > 0) this.#options.onChange();
  }

  #take(listing: ServerListing): void {
    const { pins, changePolicy } = this.#options;
    const key = listingKey(this.#config);
    const accepted = parseAcceptedTools(pins.get(key));
    const offer = createServerSkill(this.#config, listing, {
      name: this.#skillName,
      invoke: this.#links.invoke,
      getRequestKey: (values, caller) =>
        createCallerKey(this.#config, values, { caller, find: this.#options.accounts.find }),
      subscribe: this.#links.subscribe,
      complete: this.#links.complete,
      pins: accepted,
      changePolicy,
      last: this.#offer,
    });
    this.#listing = listing;
    this.#offer = offer;
    const offered = acceptTools([...offer.tools.values()]);
    const isMore = [...offered.keys()].some((name) => accepted?.has(name) !== true);
    // Accepted definitions stay unchanged; only new tools are added.
    if (isMore) pins.set(key, Object.fromEntries([...offered, ...(accepted ?? [])]));
  }

  /** Lists the tools again, after those listings that are under way. */
  refresh(): void {
    this.#isStale = true;
    if (!this.#isRefreshing) void this.#keepFresh();
  }

  async #keepFresh(): Promise<void> {
    this.#isRefreshing = true;
    const { log, secrets } = this.#options;
    const managed = this.#links.getConnection();
    if (managed.state.kind === "connecting") await managed.wake();
    while (this.#isStale) {
      const { state } = managed;
      if (state.kind !== "connected") break;
      this.#isStale = false;
      await this.list(state.connection).then(this.#options.onChange, (thrown: unknown) => {
        log(this.#config.name, "warn", secrets.maskText(`tools/list failed: ${getMessage(thrown)}`));
      });
      await waitAtMost(REFRESH_PAUSE_MS, state.connection.closed);
    }
    this.#isRefreshing = false;
  }
}

/** How long a negotiated protocol is reused: an upgraded server still supports the older protocol. */
const ERA_MS = 7 * 24 * 3_600_000;

/** Returns the protocol that was negotiated for a listing; `undefined` for an old one. */
export function parseEra({ era, listedAt }: ServerListing): ServerListing["era"] | undefined {
  return Date.now() - listedAt < ERA_MS ? era : undefined;
}

/**
 * Returns a listing whose descriptions do not have the values of the request with which it was listed: all callers see it. The names
 * of tools and parameters stay, as a caller could choose a value that is one of them.
 */
function maskDescriptions<Value>(value: Value, secrets: KnownSecrets): Value {
  return mask(value, secrets) as Value; // it has the same shape
}

function mask(value: unknown, secrets: KnownSecrets): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, secrets));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    typeof item === "string" && TEXTS.has(key) ? secrets.mask(item) : mask(item, secrets),
  ]);
  return Object.fromEntries(entries);
}

const TEXTS: ReadonlySet<string> = new Set(["description", "instructions", "title"]);
