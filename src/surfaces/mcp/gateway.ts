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
import { type CanAnswer, canAnswer, parseApps, withClient } from "./sessions/client-answers.ts";
import { complete } from "./features/completion.ts";
import { addMeta } from "./sessions/request-meta.ts";
import { askedDirectly } from "./sessions/multi-turn-requests.ts";
import { NO_TASKS, type RequestResult, type RequestTurn, type WorkContext } from "./sessions/multi-turn-request.ts";
import { getOfferedTools, hasPrograms, isListDecided, type Offered } from "./tools/tool-exposure.ts";
import { IDENTITY } from "./identity.ts";
import { createNotificationSink, createReadContext, type LogLevelState } from "./notifications.ts";
import { getServerTexts, withDescription } from "./instructions.ts";
import { getExtensions } from "./features/extensions.ts";
import { LEGACY_CAPABILITIES, MODERN_CAPABILITIES, withExtensions } from "./opening/protocol.ts";
import { listedPage } from "./features/pages.ts";
import { withReadableErrors } from "./readable-errors.ts";
import type { ConnectedClient, GatewayContext } from "./sessions/client-session.ts";
import { getClientName, type GetInstructions, serveInstructions } from "./sessions/handshake.ts";
import type { ReadContext } from "../../model/mcp-features.ts";
import type { SharedRuntime } from "../../runtime/api/view.ts";
import { createRequestValues, type RequestValues } from "../../model/requests/request-values.ts";
import { serveSkills } from "./features/skills.ts";
import { getPrompt, listPrompts } from "./features/prompts.ts";
import { ClientSubscriptions } from "./features/subscriptions.ts";
import { type Library, listResources, listTemplates, readResource } from "./features/resources.ts";
import { listTools } from "./tools/list-tools.ts";
import { callOffered, READY_MS } from "./tools/tool-calls.ts";
import { traceHandlers } from "./trace-requests.ts";
import { declaresTasks } from "./tasks/extension.ts";
import { serveTasks, withoutTaskContent } from "./tasks/serve-tasks.ts";
import { passErrorsOn } from "./upstream-errors.ts";
import { waitAtMost } from "../../shared/run-with-timeout.ts";

/** Creates the MCP server of one connection. */
export function createGateway(
  shared: GatewayContext,
  mcpClient: ConnectedClient,
  logLevel: LogLevelState = { level: undefined },
): Server {
  return equip(new Gateway(shared, mcpClient), shared, mcpClient, logLevel);
}

class Gateway extends Server {
  readonly #getInstructions: GetInstructions;

  constructor(shared: GatewayContext, mcpClient: ConnectedClient) {
    super(IDENTITY, createOptions(shared, mcpClient));
    this.#getInstructions = instructionsFor(shared, mcpClient);
  }

  override connect(transport: Transport): Promise<void> {
    withReadableErrors(transport);
    withoutTaskContent(transport);
    serveInstructions(this, this.#getInstructions);
    return super.connect(transport);
  }
}

function instructionsFor({ runtime }: GatewayContext, mcpClient: ConnectedClient): GetInstructions {
  return (clientName) => getServerTexts(runtime, mcpClient, clientName).instructions;
}

/**
 * The MCP server of one request of the 2026 protocol. The SDK reads tool schemas from it to compare headers with
 * arguments.
 */
export class RequestGateway extends McpServer {
  readonly #offered: () => Offered;
  readonly #getInstructions: GetInstructions;

  constructor(shared: GatewayContext, mcpClient: ConnectedClient) {
    super(IDENTITY, createOptions(shared, mcpClient));
    this.#getInstructions = instructionsFor(shared, mcpClient);
    equip(this.server, shared, mcpClient, { level: undefined });
    this.#offered = () => getOfferedTools(shared.runtime.viewFor(mcpClient.caller), mcpClient.exposure);
  }

  override connect(transport: Transport): Promise<void> {
    withReadableErrors(transport);
    withoutTaskContent(transport);
    serveInstructions(this.server, this.#getInstructions);
    return super.connect(transport);
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#offered().find(name)?.tool.inputSchema;
  }
}

function equip(server: Server, shared: GatewayContext, mcpClient: ConnectedClient, logLevel: LogLevelState): Server {
  const { caller } = mcpClient;
  traceHandlers(server, mcpClient);
  const library: OpenLibrary = (context) => openLibrary(shared, mcpClient, getRequestValues(context, mcpClient));
  const converse: Converse = (name, context, work) => {
    if (mcpClient.era === "legacy") return work(createLegacyContext(server, context, mcpClient, logLevel));
    const { method } = context.mcpReq;
    const base = createTurn(context, logLevel);
    const takesTasks = method === "tools/call" && base.takesTasks && shared.tasks.hasPlace;
    const subject = JSON.stringify([method, name]);
    const { life } = mcpClient;
    const requestValues = getRequestValues(context, mcpClient);
    const request = { ...base, takesTasks, caller: caller.id, life, subject, requestValues };
    // The types of the SDK know no tasks.
    return shared.conversations.run(request, work) as Promise<Awaited<ReturnType<typeof work>> | InputRequiredResult>;
  };
  if (mcpClient.era === "legacy") {
    server.setRequestHandler("logging/setLevel", ({ params: { level } }) => {
      logLevel.level = level;
      return {};
    });
  } else serveTasks(server, shared, mcpClient);
  serveTools(server, shared, mcpClient, converse);
  serveResources(server, library, mcpClient, converse);
  servePrompts(server, library, mcpClient, converse);
  serveSkills(server, library, (context) => createSilentContext(context, mcpClient), mcpClient.era);
  return server;
}

/** Opens the resources and prompts of a client, for one request. */
export async function openLibrary(
  { runtime, records, features }: GatewayContext,
  { caller, exposure, conversation }: ConnectedClient,
  requestValues: RequestValues | undefined,
): Promise<Library> {
  const view = runtime.viewFor(caller);
  const offers = await features.open(view, requestValues, exposure.names);
  const onPage = (skill: string): void => features.getAddresses(view).keepLastPage(conversation, skill);
  return { view, records, offers, hasOwnTools: hasPrograms(exposure), onPage };
}

type OpenLibrary = (context: ServerContext) => Promise<Library>;

/** Each request over HTTP has headers of its own, also in a session; a client over pipes has the values of its command line. */
function getRequestValues({ http, mcpReq }: ServerContext, mcpClient: ConnectedClient): RequestValues | undefined {
  const values = http?.req === undefined ? mcpClient.requestValues : createRequestValues(http.req.headers);
  return addMeta(values, mcpReq._meta);
}

type Converse = <Result extends RequestResult>(
  name: string,
  context: ServerContext,
  work: (workContext: WorkContext) => Promise<Result>,
) => Promise<Result | InputRequiredResult>;

function serveTools(server: Server, shared: GatewayContext, mcpClient: ConnectedClient, converse: Converse): void {
  const { runtime } = shared;
  const { caller, exposure } = mcpClient;
  server.setRequestHandler("tools/list", async (_request, context) => {
    const declared = getCapabilities(server, context, mcpClient);
    const can = canAnswer(declared);
    const view = runtime.viewFor(withClient(caller, declared));
    const listed = whenListed(runtime, mcpClient, { can, requestValues: getRequestValues(context, mcpClient) });
    // Methods listed as tools must be complete: wait for servers that are still connecting.
    if (!isListDecided(view, exposure)) await waitAtMost(READY_MS, listed);
    const { description } = getServerTexts(runtime, mcpClient, getClientName(server, context));
    const tools = listTools(shared.features, view, exposure);
    return { tools: withDescription(tools, description) };
  });
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }, context) =>
    converse(name, context, (workContext) => callOffered(shared, mcpClient, { name, args }, workContext)),
  );
}

/** Settles when the servers are known, and have listed what only this client gets. Later changes are announced. */
export async function whenListed(
  runtime: SharedRuntime,
  { caller }: ConnectedClient,
  { can, requestValues }: { readonly can: CanAnswer; readonly requestValues: RequestValues | undefined },
): Promise<void> {
  await runtime.known;
  const client = { can, ask: () => Promise.reject(new Error("no call is in flight")) };
  await runtime.viewFor(caller).listServersWith({ client, ...(requestValues && { requestValues }) });
}

/** Returns the capabilities of a client: those of `initialize`, or of the request since the 2026 protocol. */
function getCapabilities(server: Server, { mcpReq }: ServerContext, { era }: ConnectedClient): unknown {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return era === "legacy" ? server.getClientCapabilities() : envelope[CLIENT_CAPABILITIES_META_KEY];
}

function serveResources(server: Server, library: OpenLibrary, mcpClient: ConnectedClient, converse: Converse): void {
  const { caller, era } = mcpClient;
  server.setRequestHandler("resources/list", async ({ params }, context) =>
    listedPage("resources", await listResources(await library(context)), params?.cursor),
  );
  server.setRequestHandler("resources/templates/list", async ({ params }, context) =>
    listedPage("resourceTemplates", listTemplates(await library(context)), params?.cursor),
  );
  server.setRequestHandler("resources/read", ({ params: { uri } }, context) =>
    converse(uri, context, async (workContext) => {
      const offers = await library(context);
      const read = (): Promise<unknown> => readResource(uri, offers, createReadContext(caller, workContext));
      // The SDK validates results of upstream servers when it sends them.
      return (await passErrorsOn({ era, secrets: offers.view.secrets }, read)) as ReadResourceResult;
    }),
  );
  if (era === "legacy") followSubscriptions(server, library, mcpClient);
}

function servePrompts(server: Server, library: OpenLibrary, mcpClient: ConnectedClient, converse: Converse): void {
  const { caller, era } = mcpClient;
  server.setRequestHandler("prompts/list", async ({ params }, context) =>
    listedPage("prompts", listPrompts(await library(context)), params?.cursor),
  );
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: args = {} } }, context) =>
    converse(name, context, async (workContext) => {
      const offers = await library(context);
      const get = (): Promise<unknown> => getPrompt(name, args, offers, createReadContext(caller, workContext));
      return (await passErrorsOn({ era, secrets: offers.view.secrets }, get)) as GetPromptResult;
    }),
  );
  server.setRequestHandler("completion/complete", async ({ params }, context) => {
    const readContext = createSilentContext(context, mcpClient);
    const offers = await library(context);
    const work = (): Promise<unknown> => complete(params, offers, readContext);
    return (await passErrorsOn({ era, secrets: offers.view.secrets }, work)) as CompleteResult;
  });
}

/** Creates the context of a request whose method cannot ask the client. */
function createSilentContext(context: ServerContext, mcpClient: ConnectedClient): ReadContext {
  const { caller } = mcpClient;
  const requestValues = getRequestValues(context, mcpClient);
  const { signal } = context.mcpReq;
  return { caller, signal, ...(requestValues && { requestValues }), log: () => {}, progress: () => {} };
}

/** Creates the options of the SDK: a client learns of MCP Apps and of skills if its caller has some. */
function createOptions({ runtime }: GatewayContext, { caller, era }: ConnectedClient): ServerOptions {
  const { capabilities, ...options } = era === "modern" ? MODERN_OPTIONS : OPTIONS;
  return { ...options, capabilities: withExtensions(capabilities, getExtensions(runtime.viewFor(caller).catalog)) };
}

const OPTIONS = {
  capabilities: LEGACY_CAPABILITIES,
  // The code that asked a question validates the client's answer.
  jsonSchemaValidator: {
    getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
  },
} satisfies ServerOptions;

const MODERN_OPTIONS = { ...OPTIONS, capabilities: MODERN_CAPABILITIES };

/** Creates the context of a request of an older client, whose capabilities the SDK keeps from `initialize`. */
function createLegacyContext(
  server: Server,
  context: ServerContext,
  mcpClient: ConnectedClient,
  logLevel: LogLevelState,
): WorkContext {
  const { signal, send } = context.mcpReq;
  const line = createNotificationSink(context, "legacy", logLevel);
  const client = askedDirectly(server.getClientCapabilities(), (method, params, timeout) =>
    send({ method, params }, { signal, timeout }),
  );
  const requestValues = getRequestValues(context, mcpClient);
  const cancellable = cancellableBy(signal);
  return { client, requestValues, cancellable, notifications: () => line, era: "legacy", ...NO_TASKS };
}

/** Creates the turn of a request of the 2026 protocol, which carries its own capabilities. */
function createTurn(
  context: ServerContext,
  logLevel: LogLevelState,
): Omit<RequestTurn, "subject" | "caller" | "requestValues"> {
  const { signal, inputResponses } = context.mcpReq;
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {};
  const requestState = context.mcpReq.requestState<string>();
  return {
    notifications: createNotificationSink(context, "modern", logLevel),
    cancellable: cancellableBy(signal),
    can: canAnswer(envelope[CLIENT_CAPABILITIES_META_KEY]),
    ...parseApps(envelope[CLIENT_CAPABILITIES_META_KEY]),
    takesTasks: declaresTasks(envelope[CLIENT_CAPABILITIES_META_KEY]),
    ...(requestState !== undefined && { requestState }),
    ...(inputResponses !== undefined && { inputResponses }),
  };
}

/** Serves the subscriptions of older clients, which end with their connection. */
function followSubscriptions(server: Server, library: OpenLibrary, mcpClient: ConnectedClient): void {
  const subscriptions = new ClientSubscriptions(
    (uri) => void server.sendResourceUpdated({ uri }).catch(() => {}), // the client has gone
  );
  server.setRequestHandler("resources/subscribe", async ({ params: { uri } }, context) => {
    const offers = await library(context);
    const add = (): Promise<void> => subscriptions.add(uri, offers, createSilentContext(context, mcpClient));
    await passErrorsOn({ era: mcpClient.era, secrets: offers.view.secrets }, add);
    return {};
  });
  server.setRequestHandler("resources/unsubscribe", ({ params: { uri } }) => {
    subscriptions.remove(uri);
    return {};
  });
  server.onclose = () => subscriptions.close();
}
