import type { ConnectionOptions } from "./managed-connection.ts";
import type { ListName } from "../../../model/mcp-features.ts";
import type { LogLevel, RequestContext } from "../../../model/skill.ts";
import {
  type FetchLike,
  type PriorDiscovery,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

import { accountFetch } from "../http/account-fetch.ts";
import { exactFetch } from "../http/exact-fetch.ts";
import { retryAfterFetch } from "../http/retry-after-fetch.ts";
import { sizeLimitedFetch } from "../http/size-limited-fetch.ts";
import type { AnnouncedExtensions } from "./calling-clients.ts";
import { type Connection, handshake } from "./connection.ts";
import { networkFailure, startFailure } from "./start-failure.ts";
import type { OAuthSession } from "../oauth/session.ts";
import { tracedFetch } from "../http/traced-fetch.ts";
import { authorizedFetch } from "../oauth/authorized-fetch.ts";
import type { RemoteServerConfig, ServerConfig, StdioServerConfig } from "../server-config.ts";
import { childEnvironment } from "../../../shared/process/child-environment.ts";
import { withoutNpx } from "../stdio/npx.ts";
import { type ProcessReport, StdioClientTransport } from "../stdio/transport.ts";

/** The options of a connection that one attempt to connect uses. */
type CommonOptions = Pick<
  ConnectionOptions,
  "env" | "clientInfo" | "maxMessageBytes" | "account" | "programs" | "npxFolder" | "client" | "secrets"
>;

export interface ConnectOptions extends CommonOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** The OAuth session for a remote server; `undefined` if login is disabled. */
  readonly session: OAuthSession | undefined;
  /** The result of an earlier negotiation. */
  readonly era?: PriorDiscovery;
  readonly onListChanged: (list: ListName) => void;
  /** Called when a process is started, with its report. */
  readonly onProcess: (report: () => ProcessReport) => void;
  /** Receives log messages of the server. */
  readonly onLog: RequestContext["log"];
  readonly log: (level: LogLevel, text: string) => void;
}

/** One way to connect to a server: a transport and a protocol version. */
interface ConnectAttempt {
  readonly era?: PriorDiscovery;
  transport(): Transport;
  /** Whether this way may succeed after the previous one failed. */
  worthAfter(failure: ConnectFailure): boolean;
  /** Its failure is less informative than that of the previous way. */
  readonly lastResort?: boolean;
}

interface ConnectFailure {
  readonly thrown: unknown;
  readonly transport: Transport;
}

const LEGACY: PriorDiscovery = { kind: "legacy" };

/**
 * Starts or reaches a server with the newest protocol that it supports. Rejects with a `SERVER_FAILED` that says what the
 * server did instead, with its stray output and the end of its stderr.
 */
export async function connect(config: ServerConfig, options: ConnectOptions): Promise<Connection> {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([deadline, options.signal]);
  const requiresModern = config.protocol === "modern";
  const extensions = getExtensions(config);
  const attempts =
    config.transport === "stdio" ? await getStartAttempts(config, options, signal) : getHttpAttempts(config, options);
  let failure: ConnectFailure | undefined;
  for (const attempt of attempts) {
    if (failure !== undefined && (signal.aborted || !attempt.worthAfter(failure))) continue;
    const transport = attempt.transport();
    if (transport instanceof StdioClientTransport) options.onProcess(() => transport.report());
    try {
      const url = config.transport === "stdio" ? undefined : new URL(config.url);
      return await handshake(transport, { ...options, url, signal, requiresModern, extensions, era: attempt.era });
    } catch (thrown) {
      if (failure === undefined || attempt.lastResort !== true) failure = { thrown, transport };
    }
  }
  const { timeoutMs, secrets } = options;
  throw startFailure(config, {
    thrown: failure?.thrown,
    timeoutMs,
    secrets,
    report: getReport(failure?.transport),
    step: "refused the handshake",
  });
}

/** A server that the user's company manages need not send the user to a login page. */
function getExtensions(config: ServerConfig): AnnouncedExtensions {
  const isManaged =
    config.transport !== "stdio" && config.oauth !== false && config.oauth?.identityProvider !== undefined;
  return isManaged ? { "io.modelcontextprotocol/enterprise-managed-authorization": {} } : {};
}

/** Some servers exit during the negotiation of the newest protocol; they are restarted with the older one. */
async function getStartAttempts(
  config: StdioServerConfig,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<readonly ConnectAttempt[]> {
  const declared = { ...config, env: childEnvironment(options.env, config.env) };
  const { programs, npxFolder } = options;
  const command = await withoutNpx(declared, config.isOfUser === true ? npxFolder : config.cwd, { programs, signal });
  const transport = (): Transport => {
    const process = new StdioClientTransport(command, options.maxMessageBytes, options.secrets);
    process.onnoise = (line) =>
      options.log("warn", `prints text on stdout, which is for messages only: ${JSON.stringify(line)}`);
    return process;
  };
  const hasExited = ({ transport }: ConnectFailure): boolean => getReport(transport)?.exit !== undefined;
  const era = getFirstEra(config, options);
  const first: ConnectAttempt = { transport, worthAfter: () => true, ...(era && { era }) };
  if (isFixed(config)) return [first];
  if (era?.kind !== "legacy") return [first, { transport, era: LEGACY, worthAfter: hasExited }];
  return [first, { transport, worthAfter: isRefusedVersion, lastResort: true }];
}

function isFixed({ protocol = "auto" }: ServerConfig): boolean {
  return protocol !== "auto";
}

/** Returns the era that needs no negotiation. */
function getFirstEra({ protocol = "auto" }: ServerConfig, { era }: ConnectOptions): PriorDiscovery | undefined {
  if (protocol === "legacy") return LEGACY;
  return protocol === "modern" && era?.kind === "legacy" ? undefined : era;
}

/** True if the server has answered the handshake of the older protocol with an error. */
function isRefusedVersion({ thrown }: ConnectFailure): boolean {
  return thrown instanceof ProtocolError || isRefusedPost(thrown);
}

/** A server that does not answer a POST correctly may still support the older transport. */
function getHttpAttempts(config: RemoteServerConfig, options: ConnectOptions): readonly ConnectAttempt[] {
  const era = getFirstEra(config, options);
  const url = new URL(config.url);
  const plain = retryAfterFetch(exactFetch(sizeLimitedFetch(options.maxMessageBytes), options.maxMessageBytes));
  const fetch = tracedFetch(authorize(plain, url, options));
  const request = { requestInit: { headers: config.headers }, fetch };
  const http = (): Transport => new StreamableHTTPClientTransport(url, request);
  const events: ConnectAttempt = {
    era: LEGACY,
    transport: () => new SSEClientTransport(url, request),
    worthAfter: ({ thrown }) => isRefusedPost(thrown),
    lastResort: true,
  };
  if (config.transport === "sse") return [events];
  const first: ConnectAttempt = { transport: http, worthAfter: () => true, ...(era && { era }) };
  if (config.protocol === "modern") return [first];
  if (config.protocol === "legacy") return [first, events];
  if (era?.kind === "legacy")
    return [first, { transport: http, worthAfter: isRefusedVersion, lastResort: true }, events];
  return [first, { era: LEGACY, transport: http, worthAfter: ({ thrown }) => isRefusedProbe(thrown) }, events];
}

/** Adds the token of a login, or the credential of an account, to requests. */
function authorize(
  plain: FetchLike,
  { origin }: URL,
  { session, account }: Pick<ConnectOptions, "session" | "account">,
): FetchLike {
  if (account !== undefined) return accountFetch({ origin, open: account.open }, plain);
  return session === undefined ? plain : authorizedFetch(session, plain);
}

/** True if the server was reached, requires no login, and failed during the negotiation of the newest protocol. */
function isRefusedProbe(thrown: unknown): boolean {
  if (thrown instanceof SdkHttpError) return thrown.code === SdkErrorCode.EraNegotiationFailed && thrown.status !== 401;
  if (!(thrown instanceof SdkError)) return false;
  const isVerdict = thrown.code === SdkErrorCode.EraNegotiationFailed || thrown.code === SdkErrorCode.RequestTimeout;
  return isVerdict && networkFailure(thrown) === undefined;
}

function isRefusedPost(thrown: unknown): boolean {
  if (!(thrown instanceof SdkHttpError)) return false;
  const { status } = thrown;
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429;
}

function getReport(transport: Transport | undefined): ProcessReport | undefined {
  return transport instanceof StdioClientTransport ? transport.report() : undefined;
}
