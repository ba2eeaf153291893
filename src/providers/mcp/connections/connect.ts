import {
  type Implementation,
  type PriorDiscovery,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";

import type { Client } from "../../../model/client-requests.ts";
import { sizeLimitedFetch } from "../http/size-limited-fetch.ts";
import { type Connection, handshake, type McpLogLevel } from "./connection.ts";
import { networkFailure, startFailure } from "./start-failure.ts";
import type { KeyValueCache } from "../../../shared/file-cache.ts";
import type { KnownSecrets } from "../../../shared/secrets.ts";
import type { OAuthSession } from "../oauth/session.ts";
import { authorizedFetch } from "../oauth/authorized-fetch.ts";
import type { RemoteServerConfig, ServerConfig, StdioServerConfig } from "../server-config.ts";
import { childEnvironment, type ProcessEnvironment } from "../stdio/environment.ts";
import { withoutNpx } from "../stdio/npx.ts";
import { type ProcessReport, StdioClientTransport } from "../stdio/transport.ts";

export interface ConnectOptions {
  readonly env: ProcessEnvironment;
  readonly clientInfo: Implementation;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  readonly signal: AbortSignal;
  /** The right to use a remote server; `undefined` where no login is wanted. */
  readonly session: OAuthSession | undefined;
  /** Where programs were found that `npx` would start. */
  readonly programs: KeyValueCache;
  /** Where `npx` looks up what the user's own servers need. */
  readonly npxFolder: string;
  /** What an earlier connection found out. */
  readonly era?: PriorDiscovery;
  readonly onToolsChanged: () => void;
  /** Answers what the server asks. */
  readonly client: Client | undefined;
  /** Called when a process is started, with what it will have done. */
  readonly onProcess: (report: () => ProcessReport) => void;
  /** Gets what the server says. */
  readonly onLog: (level: McpLogLevel, text: string) => void;
  readonly log: (level: McpLogLevel, text: string) => void;
  readonly secrets: KnownSecrets;
}

/** One way to speak to a server. */
interface ConnectAttempt {
  readonly era?: PriorDiscovery;
  transport(): Transport;
  /** Whether this way may succeed where the way before it failed. */
  worthAfter(failure: ConnectFailure): boolean;
  /** Its failure says less than the failure of the way before it. */
  readonly lastResort?: boolean;
}

interface ConnectFailure {
  readonly thrown: unknown;
  readonly transport: Transport;
}

const LEGACY: PriorDiscovery = { kind: "legacy" };

/**
 * Starts or reaches a server, in the newest way that it understands. Rejects with a `SERVER_FAILED` that says what the
 * server did instead, with its stray output and the end of its stderr.
 */
export async function connect(config: ServerConfig, options: ConnectOptions): Promise<Connection> {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([deadline, options.signal]);
  const ways =
    config.transport === "stdio" ? await getStartAttempts(config, options, signal) : getHttpAttempts(config, options);
  let failure: ConnectFailure | undefined;
  for (const way of ways) {
    if (failure !== undefined && (signal.aborted || !way.worthAfter(failure))) continue;
    const transport = way.transport();
    if (transport instanceof StdioClientTransport) options.onProcess(() => transport.report());
    try {
      return await handshake(transport, { ...options, signal, ...(way.era && { era: way.era }) });
    } catch (thrown) {
      if (failure === undefined || way.lastResort !== true) failure = { thrown, transport };
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

/** Some servers exit at the question for the newest protocol; those are started again and spoken to in the older one. */
async function getStartAttempts(
  config: StdioServerConfig,
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<readonly ConnectAttempt[]> {
  const declared = { ...config, env: childEnvironment(options.env, config.env) };
  const { programs, npxFolder } = options;
  const command = await withoutNpx(declared, config.isOfUser === true ? npxFolder : config.cwd, { programs, signal });
  const transport = (): Transport => new StdioClientTransport(command, options.maxMessageBytes, options.secrets);
  const hasExited = ({ transport }: ConnectFailure): boolean => getReport(transport)?.exit !== undefined;
  const first: ConnectAttempt = { transport, worthAfter: () => true, ...(options.era && { era: options.era }) };
  return options.era?.kind === "legacy" ? [first] : [first, { transport, era: LEGACY, worthAfter: hasExited }];
}

/** A server that does not answer a POST as it should may still speak the transport that came before. */
function getHttpAttempts(config: RemoteServerConfig, options: ConnectOptions): readonly ConnectAttempt[] {
  const { era, session } = options;
  const url = new URL(config.url);
  const plain = sizeLimitedFetch(options.maxMessageBytes);
  const fetch = session === undefined ? plain : authorizedFetch(session, plain);
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
  return [first, { era: LEGACY, transport: http, worthAfter: ({ thrown }) => isRefusedProbe(thrown) }, events];
}

/** The server stumbled over the question for the newest protocol; it was reached, and does not ask who we are. */
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
