import {
  type CompleteResult,
  type GetPromptResult,
  type InputRequiredResult,
  type ReadResourceResult,
  McpServer,
  Server,
  type ServerContext,
  type ServerOptions,
} from "@modelcontextprotocol/server";

import type { Caller } from "../../model/caller.ts";
import type { ClientRequest } from "../../model/client.ts";
import { isRecord } from "../../model/json.ts";
import type { Runtime } from "../../runtime.ts";
import { VERSION } from "../../version.ts";
import { CAPABILITIES } from "./client-answers.ts";
import { complete } from "./completion.ts";
import { cannotAsk, type Conversations, type Finished, type Side } from "./conversations.ts";
import { type Exposure, type Offered, offeredTo } from "./expose.ts";
import { listedPage } from "./pages.ts";
import { offerContext } from "./news.ts";
import { offersTo } from "./offers.ts";
import { getPrompt, listPrompts } from "./prompts.ts";
import { type Library, listResources, listTemplates, readResource } from "./resources.ts";
import type { RunRecords } from "./run-records.ts";
import { callTool } from "./tool-calls.ts";
import type { Upstream } from "./upstream.ts";
import { knownWithin } from "./within.ts";

/** What all connections of one server share. */
export interface Shared {
  readonly runtime: Runtime;
  readonly conversations: Conversations;
  readonly records: RunRecords;
  readonly upstream: Upstream;
}

/** Who is at the other end of a connection, and what it is offered. */
export interface Peer {
  readonly caller: Caller;
  readonly exposure: Exposure;
  /** The protocol of 2026 has no requests from servers to clients. */
  readonly era: "legacy" | "modern";
}

/** MCP's side of one connection. */
export function createGateway(shared: Shared, peer: Peer): Server {
  return equip(new Server(IDENTITY, OPTIONS), shared, peer);
}

/** MCP's side of one request of the protocol of 2026. The SDK asks it for schemas, to compare headers with arguments. */
export class RequestGateway extends McpServer {
  readonly #offered: () => Offered;

  constructor(shared: Shared, peer: Peer) {
    super(IDENTITY, OPTIONS);
    equip(this.server, shared, peer);
    this.#offered = () => offeredTo(shared.runtime.catalogFor(peer.caller), peer.exposure);
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#offered().tools.find((tool) => tool.name === name)?.inputSchema;
  }
}

const IDENTITY = { name: "skillgate", title: "Skillgate", version: VERSION };

function equip(server: Server, shared: Shared, peer: Peer): Server {
  const { runtime, records } = shared;
  const { caller, exposure } = peer;
  const library = async (): Promise<Library> => {
    const offers = await offersTo(caller, runtime.catalogFor(caller), exposure.names, shared.upstream);
    return { runtime, caller, records, offers };
  };
  const converse: Converse = (name, context, work) => {
    const can = canAnswer(server, peer, context);
    if (peer.era === "legacy") return work(directSide(context, can));
    const subject = JSON.stringify([caller.id, context.mcpReq.method, name]);
    return shared.conversations.converse({ context, can, subject }, work);
  };
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

function serveTools(server: Server, shared: Shared, { caller, exposure }: Peer, converse: Converse): void {
  const { runtime } = shared;
  const offered = (): Offered => offeredTo(runtime.catalogFor(caller), exposure);
  server.setRequestHandler("tools/list", async () => {
    // Without the three tools, what is not listed cannot be found: servers that still connect are waited for.
    if (exposure.expose !== "code") await knownWithin(READY_MS, runtime);
    return { tools: [...offered().tools] };
  });
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }, context) =>
    converse(name, context, async (side) => {
      if (offered().method(name) === undefined) await knownWithin(READY_MS, runtime);
      return callTool({ ...shared, caller, offered: offered() }, name, args, side);
    }),
  );
}

/** Servers that connect for longer are not waited for; a notification says when they are there. */
const READY_MS = 5_000;

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
    const nobody = directSide(context, () => false);
    return (await complete(params, await library(), offerContext(caller, nobody))) as CompleteResult;
  });
}

/** What a client tells its model of this server. */
const INSTRUCTIONS = `Every skill and MCP server of the user is behind three tools: search_skills finds methods, describe_function shows how to call one, run_code does a whole task in one short program. Search first unless you know the method; describe it unless its signature is clear; then write one program for the task.`;

function canAnswer(server: Server, { era }: Peer, { mcpReq }: ServerContext): (request: ClientRequest) => boolean {
  // The SDK keeps what an old client said at its beginning; a new one says it with each request.
  const declared: unknown =
    era === "legacy" ? server.getClientCapabilities() : mcpReq.envelope?.[CAPABILITIES_KEY as never];
  return (request) => isRecord(declared) && isRecord(declared[CAPABILITIES[request]]);
}

const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

const OPTIONS: ServerOptions = {
  capabilities: {
    tools: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
    prompts: { listChanged: true },
    completions: {},
    logging: {},
  },
  instructions: INSTRUCTIONS,
  // What a client answers is judged by whoever asked.
  jsonSchemaValidator: {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  },
};

/** A person may think for so long. */
const ANSWER_MS = 10 * 60_000;

/** Old clients are asked on the stream of the request. */
function directSide(context: ServerContext, can: (request: ClientRequest) => boolean): Side {
  const { signal } = context.mcpReq;
  return {
    client: {
      can,
      ask: async (request, params) => {
        if (!can(request)) throw cannotAsk(request);
        return context.mcpReq.send({ method: request, params: { ...params } }, { signal, timeout: ANSWER_MS });
      },
    },
    signal,
    context: () => context,
    era: "legacy",
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
