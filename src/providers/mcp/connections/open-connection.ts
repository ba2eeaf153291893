import { OWNER } from "../../../model/caller.ts";
import { connect, type ConnectOptions } from "./connect.ts";
import type { Connection } from "./connection.ts";
import { fillInCommands, forgetOutputs } from "./secret-commands.ts";
import { networkFailure, startFailure } from "./start-failure.ts";
import { GrantFlow } from "../oauth/flow.ts";
import type { OAuthConfig } from "../oauth/config.ts";
import { AuthorizationError, type Authorize, OAuthSession } from "../oauth/session.ts";
import type { TokenStore } from "../../../model/account.ts";
import type { ServerConfig } from "../server-config.ts";

export interface OpenOptions extends Omit<ConnectOptions, "session"> {
  readonly tokens: TokenStore;
  /** On whose behalf the connection is made. */
  readonly caller: string;
  readonly authorize: Authorize | undefined;
  /** Must succeed before the server counts as connected. */
  readonly prepare: (connection: Connection) => Promise<void>;
}

/** Connects, logs in if the server requires it, and prepares the connection. Rejects with `SERVER_FAILED`. */
export async function openConnection(declared: ServerConfig, options: OpenOptions): Promise<Connection> {
  const config = await fillInCommands(declared, options);
  try {
    return await openFilled(config, options, declared);
  } catch (thrown) {
    forgetOutputs(declared);
    throw thrown;
  }
}

async function openFilled(config: ServerConfig, options: OpenOptions, declared: ServerConfig): Promise<Connection> {
  const session = await sessionFor(config, { ...options, declared });
  if (session === undefined) return openWithRetry(config, { ...options, session });
  try {
    return await session.connecting(() => openWithRetry(config, { ...options, session }), options.signal);
  } catch (thrown) {
    if (!(thrown instanceof AuthorizationError)) throw thrown;
    const { timeoutMs, secrets } = options;
    throw startFailure(config, { thrown, timeoutMs, secrets, report: undefined, step: "" });
  }
}

/** Connects once more if the server, or a proxy before it, has closed an idle connection just before it was used again. */
async function openWithRetry(config: ServerConfig, options: OpenOptions & ConnectOptions): Promise<Connection> {
  try {
    return await openOnce(config, options);
  } catch (thrown) {
    if (!RESET_CODES.has(networkFailure(thrown)?.code) || options.signal.aborted) throw thrown;
    return openOnce(config, options);
  }
}

/** Codes of a connection that the other end has closed before it answered. */
const RESET_CODES: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

async function openOnce(config: ServerConfig, options: OpenOptions & ConnectOptions): Promise<Connection> {
  const connection = await connect(config, options);
  try {
    await options.prepare(connection);
    return connection;
  } catch (thrown) {
    const { timeoutMs, secrets } = options;
    const report = connection.report();
    await connection.close();
    throw startFailure(config, { thrown, timeoutMs, secrets, report, step: "did not list its tools" });
  }
}

/** Creates the OAuth session; `undefined` for a process, a disabled login, or an entry that authorizes by a header. */
async function sessionFor(
  config: ServerConfig,
  options: OpenOptions & { readonly declared: ServerConfig },
): Promise<OAuthSession | undefined> {
  if (config.transport === "stdio" || config.oauth === false) return undefined;
  const { name, url: server, headers, oauth } = config;
  const hasHeader = Object.keys(headers).some((header) => header.toLowerCase() === "authorization");
  if (oauth === undefined && hasHeader) return undefined;
  const { tokens: store, authorize, secrets } = options;
  const caller = await findTokenOwner(server, options);
  const readConfig = (): Promise<OAuthConfig> => readOAuthAgain(options.declared, options);
  return new OAuthSession({ name, server, caller, config: oauth ?? {}, readConfig, store, authorize, secrets });
}

/** Runs the commands of an entry again, and returns its login. */
async function readOAuthAgain(declared: ServerConfig, options: OpenOptions): Promise<OAuthConfig> {
  forgetOutputs(declared);
  const config = await fillInCommands(declared, options);
  return config.transport === "stdio" || config.oauth === false ? {} : (config.oauth ?? {});
}

/** A caller with a login of its own uses that; other callers use the owner's, as on the shared connection. */
async function findTokenOwner(server: string, { tokens, caller }: OpenOptions): Promise<string> {
  const own = await tokens.get(GrantFlow.key({ server, caller }));
  return own === undefined ? OWNER.id : caller;
}
