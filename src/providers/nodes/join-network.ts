import type { Catalog } from "../../model/catalog.ts";
import { type IncomingRequest, openServer } from "../../network/index.ts";
import { hashValueFully } from "../../shared/digest.ts";
import { listSkills } from "./listing.ts";
import { CallServer, type OfferedRuntime } from "./serve-calls.ts";
import { MAX_MESSAGE_BYTES, type NodeSettings } from "./settings.ts";

/** The part of a runtime that this machine offers to others. */
export interface JoiningRuntime extends OfferedRuntime {
  readonly catalog: Catalog;
  on(event: "catalog", listener: (catalog: Catalog) => void): () => void;
}

export interface JoinOptions {
  readonly settings: NodeSettings;
  readonly runtime: JoiningRuntime;
  /** Gets a sentence about the connection each time that it changes. */
  readonly onState: (text: string) => void;
  readonly warn: (text: string) => void;
}

/** A membership in the network. */
export interface Membership {
  readonly paths: readonly string[];
  /** Tells others that this machine goes, and closes the connection. Calls in progress end. */
  leave(): Promise<void>;
}

/** Offers skills to the network, now and after each interruption, until `leave`. Throws `OPTION_INVALID` for a bad key. */
export async function joinNetwork({ settings, runtime, onState, warn }: JoinOptions): Promise<Membership> {
  let offer = createOffer(runtime.catalog, settings);
  const calls = new CallServer({ settings, runtime, getPermissions: () => offer.permissions });
  const answer = async (request: IncomingRequest): Promise<void> => {
    if (request.method === "call") await calls.answer(request);
    else if (request.method === "catalog") await request.send("result", offer.listing);
    else await request.send("refusal", `it does not know the request ${request.method}`);
  };
  const server = await openServer({
    settings,
    group: "nodes",
    maxBytes: MAX_MESSAGE_BYTES,
    describe: () => ({ digest: offer.digest }),
    answer,
    onOpen: (where) => onState(`connected to ${where} as ${settings.device}, offering ${offer.paths.length} methods`),
    onLost: (where) => {
      calls.cancelAll();
      onState(`the connection to ${where} is interrupted`);
    },
    onFailure: (where, failure) => onState(`cannot connect to ${where}: ${failure}`),
    warn,
  });
  const stop = runtime.on("catalog", (catalog) => {
    offer = createOffer(catalog, settings);
    server.update();
  });
  return {
    get paths() {
      return offer.paths;
    },
    async leave() {
      stop();
      server.leave();
      calls.cancelAll();
      await server.close();
    },
  };
}

interface Offer {
  readonly listing: string;
  readonly digest: string;
  readonly paths: readonly string[];
  /** The permissions for these paths, which every caller of another machine has. */
  readonly permissions: readonly string[];
}

function createOffer(catalog: Catalog, { title, offer }: NodeSettings): Offer {
  const skills = listSkills(catalog, offer);
  const listing = JSON.stringify({ title, skills });
  const paths = skills.flatMap(({ name, methods }) => methods.map((method) => `${name}.${method.name}`));
  return { listing, digest: hashValueFully(listing), paths, permissions: paths.map((path) => `call:${path}`) };
}
