import type { Msg, NatsConnection } from "@nats-io/transport-node";

import { getMessage } from "../../errors.ts";
import type { Catalog } from "../../model/catalog.ts";
import { hashValueFully } from "../../shared/digest.ts";
import {
  addService,
  createFacts,
  KIND,
  loadNats,
  openNetwork,
  openSignatures,
  parseMessage,
  sendMessage,
  type Signatures,
} from "../../network/index.ts";
import { listSkills } from "./listing.ts";
import { createCallServer, type CallServer, type OfferedRuntime } from "./serve-calls.ts";
import type { NodeSettings } from "./settings.ts";
import { ANNOUNCEMENTS, getSubjects, SERVICE_NAME } from "./subjects.ts";

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
  await loadNats();
  const signatures = await openSignatures(settings);
  let offer = createOffer(runtime.catalog, settings);
  let session: NodeSession | undefined;
  const where = settings.servers.map((url) => url.replace(/\/\/[^@/]*@/, "//")).join(", ");
  const network = openNetwork(settings, {
    onOpen(connection) {
      // The service of an interrupted connection is subscribed again by itself.
      if (session?.connection === connection) session.announce("here");
      else
        openSession(connection, { settings, runtime, signatures, getOffer: () => offer }).then(
          (opened) => void (session = opened),
          (error: unknown) => warn(`Cannot offer skills: ${getMessage(error)}`),
        );
      onState(`connected to ${where} as ${settings.device}, offering ${offer.paths.length} methods`);
    },
    onLost() {
      session?.calls.cancelAll();
      onState(`the connection to ${where} is interrupted`);
    },
  });
  const stop = runtime.on("catalog", (catalog) => {
    offer = createOffer(catalog, settings);
    session?.announce("here");
  });
  const beat = setInterval(() => session?.announce("here"), Math.max(100, settings.silenceMs / 3));
  void network.attempted.then(() => {
    if (network.failure !== undefined) onState(`cannot connect to ${where}: ${network.failure}`);
  });
  return {
    get paths() {
      return offer.paths;
    },
    async leave() {
      stop();
      clearInterval(beat);
      session?.announce("gone");
      session?.calls.cancelAll();
      await network.connection?.flush().catch(() => {}); // the server is gone, and needs no farewell
      await network.close();
    },
  };
}

interface Offer {
  readonly listing: Readonly<Record<string, unknown>>;
  readonly digest: string;
  readonly paths: readonly string[];
}

function createOffer(catalog: Catalog, { title, offer }: NodeSettings): Offer {
  const skills = listSkills(catalog, offer);
  const listing = { title, skills };
  const paths = skills.flatMap(({ name, methods }) => methods.map((method) => `${name}.${method.name}`));
  return { listing, digest: hashValueFully(listing), paths };
}

interface NodeSession {
  readonly connection: NatsConnection;
  readonly calls: CallServer;
  announce(kind: "here" | "gone"): void;
}

interface SessionParts extends Pick<JoinOptions, "settings" | "runtime"> {
  readonly signatures: Signatures;
  readonly getOffer: () => Offer;
}

async function openSession(
  connection: NatsConnection,
  { settings, runtime, signatures, getOffer }: SessionParts,
): Promise<NodeSession> {
  const { device, title } = settings;
  const description = "Skills of a machine, called by Skillgate";
  const service = await addService(connection, { name: SERVICE_NAME, description, metadata: { device, title } });
  const { id } = service.info();
  const subjects = getSubjects(device, id);
  const calls = createCallServer({ connection, settings, runtime, signatures, getPaths: () => getOffer().paths });
  service.addEndpoint("call", { subject: subjects.call, handler: (_, message) => calls.receive(message) });
  service.addEndpoint("cancel", { subject: subjects.cancel, handler: (_, message) => calls.cancel(message.string()) });
  service.addEndpoint("catalog", {
    subject: subjects.catalog,
    handler: (_, message) => void sendListing(message, { connection, device, offer: getOffer(), signatures }),
  });
  const announce = (kind: "here" | "gone"): void => {
    const { digest } = getOffer();
    if (!connection.isClosed())
      connection.publish(`${ANNOUNCEMENTS}.${device}`, JSON.stringify({ kind, id, title, digest }));
  };
  announce("here");
  return { connection, calls, announce };
}

async function sendListing(
  { reply, data }: Pick<Msg, "reply" | "data">,
  {
    connection,
    device,
    offer,
    signatures,
  }: Pick<SessionParts, "signatures"> & { connection: NatsConnection; device: string; offer: Offer },
): Promise<void> {
  const request = parseMessage(data) as { readonly id?: unknown } | undefined;
  if (reply === undefined || reply === "" || typeof request?.id !== "string") return;
  const text = JSON.stringify(offer.listing);
  const facts = createFacts(device, "catalog", request.id, text);
  await sendMessage(connection, {
    subject: reply,
    id: request.id,
    bytes: Buffer.from(text),
    headers: { [KIND]: "result", ...signatures.sign(facts) },
  });
}
