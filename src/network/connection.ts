import { readFile } from "node:fs/promises";
import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";

import { getMessage } from "../errors.ts";
import { explainMissing } from "../shared/package/optional-package.ts";
import type { NetworkSettings } from "./settings.ts";

/** The connection to the network, which opens and reopens by itself. */
export interface Network {
  /** `undefined` while there is no connection. */
  readonly connection: NatsConnection | undefined;
  /** Says why there is no connection, for the owner; `undefined` while there is one. */
  readonly failure: string | undefined;
  /** Settles when the first attempt to connect has ended. */
  readonly attempted: Promise<void>;
  close(): Promise<void>;
}

export interface NetworkListener {
  /** A connection is open; it is a new one, or the old one after an interruption. */
  readonly onOpen: (connection: NatsConnection) => void;
  /** The connection is interrupted. `close` does not call this. */
  readonly onLost: () => void;
}

const RETRY_MS = 500;
const CONNECT_TIMEOUT_MS = 3_000;

/** Connects in the background. Never rejects: what fails is tried again until `close`. */
export function openNetwork(settings: NetworkSettings, { onOpen, onLost }: NetworkListener): Network {
  let current: NatsConnection | undefined;
  let isUp = false;
  let failure: string | undefined = "it is connecting";
  const closing = new AbortController();
  let wake = (): void => {};

  async function keepConnected(onAttempt: () => void): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        const { connect } = await loadNats();
        current = await connect(await getOptions(settings));
        if (closing.signal.aborted) await current.close();
        else await follow(current, onAttempt);
      } catch (error) {
        failure = getMessage(error);
      }
      onAttempt();
      if (!closing.signal.aborted) await pause();
    }
  }

  /** Settles when the connection has closed for good. */
  async function follow(connection: NatsConnection, onAttempt: () => void): Promise<void> {
    const setUp = (next: boolean, why?: string): void => {
      if (isUp === next) return;
      isUp = next;
      failure = why;
      if (next) onOpen(connection);
      else if (!closing.signal.aborted) onLost();
    };
    setUp(true);
    onAttempt();
    for await (const { type } of connection.status()) {
      if (type === "disconnect" || type === "staleConnection") setUp(false, "the connection is interrupted");
      else if (type === "reconnect" && !closing.signal.aborted) setUp(true);
    }
    setUp(false, "the connection is closed");
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RETRY_MS).unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const attempted = new Promise<void>((resolve) => void keepConnected(resolve));
  return {
    get connection() {
      return isUp ? current : undefined;
    },
    get failure() {
      return isUp ? undefined : failure;
    },
    attempted,
    async close() {
      closing.abort();
      wake();
      await current?.close();
    },
  };
}

async function getOptions({ servers, credentials, device, silenceMs }: NetworkSettings): Promise<ConnectionOptions> {
  const { credsAuthenticator } = await loadNats();
  const addresses = servers.map(parseAddress);
  return {
    servers: addresses.map(({ server }) => server),
    ...addresses.find(({ login }) => login !== undefined)?.login,
    name: `skillgate ${device}`,
    timeout: CONNECT_TIMEOUT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS / 2,
    ignoreAuthErrorAbort: true,
    // An interruption that closes no socket is noticed after two pings without an answer.
    pingInterval: Math.max(50, Math.floor(silenceMs / 3)),
    maxPingOut: 2,
    ...(credentials !== undefined && { authenticator: credsAuthenticator(await readFile(credentials)) }),
  };
}

interface Address {
  readonly server: string;
  readonly login?: { readonly user: string; readonly pass: string } | { readonly token: string };
}

/** Parses `nats://user:password@host` or `nats://token@host`: the library takes these parts as options only. */
function parseAddress(text: string): Address {
  const [, protocol = "", login = "", host = ""] = /^([a-z]+:\/\/)?(?:([^@/]*)@)?(.*)$/i.exec(text) ?? [];
  const server = protocol + host;
  if (login === "") return { server };
  const [user = "", ...rest] = login.split(":").map(decodeURIComponent);
  return { server, login: rest.length === 0 ? { token: user } : { user, pass: rest.join(":") } };
}

/** Loads the package of NATS. Rejects with `PACKAGE_MISSING` if it is not installed. */
async function loadNats() {
  return import("@nats-io/transport-node").catch(explainMissing("the network of devices", "@nats-io/transport-node"));
}
