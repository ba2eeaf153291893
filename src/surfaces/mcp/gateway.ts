import {
  CLIENT_CAPABILITIES_META_KEY,
  type CompleteResult,
  type GetPromptResult,
  type InputRequiredResult,
  type ReadResourceResult,
  McpServer,
  Server,
  type ServerContext,
  type ServerOptions,
  type Transport,
} from "@modelcontextprotocol/server";

import { cancellableBy } from "../../../sandbox/index.ts";
import { canAnswer } from "./client-answers.ts";
import { complete } from "./completion.ts";
import { askedDirectly, type Finished, type Side, type Turn } from "./conversations.ts";
import { type Offered, offeredTo } from "./expose.ts";
import { IDENTITY } from "./identity.ts";
import { type Ears, lineOf } from "./line.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { listedPage } from "./pages.ts";
import { speakPlainly } from "./plain-words.ts";
import type { Peer, Shared } from "./peer.ts";
import type { OfferContext } from "../../model/offers.ts";
import { offerContext } from "./news.ts";
import { offersTo } from "./offers.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { type Library, listResources, listTemplates, readResource } from "./resources.ts";
import { callOffered, READY_MS } from "./tool-calls.ts";
import { knownWithin } from "./within.ts";

/** MCP's side of one connection. */
export function createGateway(shared: Shared, peer: Peer, ears: Ears = { level: undefined }): Server {
  return equip(new Gateway(IDENTITY, optionsFor(peer)), shared, peer, ears);
}

class Gateway extends Server {
  override connect(transport: Transport): Promise<void> {
    speakPlainly(transport);
    return super.connect(transport);
  }
}

/** MCP's side of one request of the protocol of 2026. The SDK asks it for schemas, to compare headers with arguments. */
export class RequestGateway extends McpServer {
  readonly #offered: () => Offered;

  constructor(shared: Shared, peer: Peer) {
    super(IDENTITY, optionsFor(peer));
    equip(this.server, shared, peer, { level: undefined });
    this.#offered = () => offeredTo(shared.runtime.catalogFor(peer.caller), peer.exposure);
  }

  override connect(transport: Transport): Promise<void> {
    speakPlainly(transport);
    return super.connect(transport);
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#offered().find(name)?.tool.inputSchema;
  }
}

function equip(server: Server, shared: Shared, peer: Peer, ears: Ears): Server {
  const { runtime, records } = shared;
  const { caller, exposure } = peer;
  const library = async (): Promise<Library> => {
    const offers = await offersTo(caller, runtime.catalogFor(caller), exposure.names, shared.upstream);
    return { runtime, caller, records, offers, hasOwnTools: exposure.expose !== "tools" };
  };
  const converse: Converse = (name, context, work) => {
    if (peer.era === "legacy") return work(oldSide(server, context, ears));
    const subject = JSON.stringify([caller.id, context.mcpReq.method, name]);
    return shared.conversations.converse({ ...turnOf(context, ears), subject }, work);
  };
  if (peer.era === "legacy") {
    server.setRequestHandler("logging/setLevel", ({ params: { level } }) => {
      ears.level = level;
      return {};
    });
  }
  serveTools(server, shared, peer, converse);
  serveResources(server, library, peer, converse);
  servePrompts(server, library, peer, converse);
  return server;
}

type Converse = <Result extends Finished>(
  name: string,
  context: ServerContext,
  work: (side: Side) => Promise<Result>,
) => Promise<Result | InputRequiredResult>;

function serveTools(server: Server, shared: Shared, peer: Peer, converse: Converse): void {
  const { runtime } = shared;
  const { caller, exposure } = peer;
  const offered = (): Offered => offeredTo(runtime.catalogFor(caller), exposure);
  server.setRequestHandler("tools/list", async () => {
    // Without the three tools, what is not listed cannot be found: servers that still connect are waited for.
    if (exposure.expose !== "code") await knownWithin(READY_MS, runtime);
    return { tools: [...offered().tools] };
  });
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }, context) =>
    converse(name, context, (side) => callOffered(shared, peer, { name, args }, side)),
  );
}

function serveResources(server: Server, library: () => Promise<Library>, { caller }: Peer, converse: Converse): void {
  server.setRequestHandler("resources/list", async ({ params }) =>
    listedPage("resources", listResources(await library()), params?.cursor),
  );
  server.setRequestHandler("resources/templates/list", async ({ params }) =>
    listedPage("resourceTemplates", listTemplates(await library()), params?.cursor),
  );
  server.setRequestHandler("resources/read", ({ params: { uri } }, context) =>
    converse(uri, context, async (side) => {
      // What an upstream server has read is checked by the SDK on its way out.
      return (await readResource(uri, await library(), offerContext(caller, side))) as ReadResourceResult;
    }),
  );
  followSubscriptions(server, library);
}

function servePrompts(server: Server, library: () => Promise<Library>, { caller }: Peer, converse: Converse): void {
  server.setRequestHandler("prompts/list", async ({ params }) =>
    listedPage("prompts", listPrompts(await library()), params?.cursor),
  );
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
    converse(name, context, async (side) => {
      return (await getPrompt(name, args, await library(), offerContext(caller, side))) as GetPromptResult;
    }),
  );
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const { signal } = context.mcpReq;
    const silent: OfferContext = { caller, signal, log: () => {}, progress: () => {} };
    return (await complete(params, await library(), silent)) as CompleteResult;
  });
}

function optionsFor({ exposure }: Peer): ServerOptions {
  return {
    capabilities: {
      tools: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      prompts: { listChanged: true },
      completions: {},
      logging: {},
    },
    instructions: INSTRUCTIONS[exposure.expose],
    // What a client answers is judged by whoever asked.
    jsonSchemaValidator: {
      getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
    },
  };
}

/** The SDK keeps what an old client said at its beginning. */
function oldSide(server: Server, context: ServerContext, ears: Ears): Side {
  const { signal, send } = context.mcpReq;
  const line = lineOf(context, "legacy", ears);
  const client = askedDirectly(canAnswer(server.getClientCapabilities()), (method, params, timeout) =>
    send({ method, params }, { signal, timeout }),
  );
  return { client, cancellable: cancellableBy(signal), line: () => line, era: "legacy" };
}

/** A new client says everything with each request. */
function turnOf(context: ServerContext, ears: Ears): Omit<Turn, "subject"> {
  const { signal, inputResponses } = context.mcpReq;
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const requestState = context.mcpReq.requestState<string>();
  return {
    line: lineOf(context, "modern", ears),
    cancellable: cancellableBy(signal),
    can: canAnswer(envelope[CLIENT_CAPABILITIES_META_KEY]),
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
  };
}

/** Old clients subscribe on their connection; it ends their subscriptions. */
function followSubscriptions(server: Server, library: () => Promise<Library>): void {
  const stops = new Map<string, () => void>();
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }) => {
    const { resources } = (await library()).offers;
    const offers = resources.get(uri)?.offers;
    stops.get(uri)?.();
    const told = (): void => void server.sendResourceUpdated({ uri }).catch(() => {}); // the client has gone
    const stop = offers?.subscribe?.(uri, told);
    if (stop !== undefined && stops.size < MOST_SUBSCRIPTIONS) stops.set(uri, stop);
    else stop?.();
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    stops.get(uri)?.();
    stops.delete(uri);
    return {};
  });
  server.onclose = () => {
    for (const stop of stops.values()) stop();
    stops.clear();
  };
}

/** Of one connection. */
const MOST_SUBSCRIPTIONS = 1_000;
