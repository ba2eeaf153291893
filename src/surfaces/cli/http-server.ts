import { getMessage } from "../../errors.ts";
import type { Runtime } from "../../runtime.ts";
import type { Console } from "../console/index.ts";
import type { HttpServer, HttpServerSettings } from "../http/index.ts";
import type { Connections, EarlyServer } from "../http/opening/index.ts";
import { configOptions } from "./mcp/files.ts";
import type { CliSession } from "./session.ts";
import type { ServeLog } from "./serve-log.ts";
import { serveOnUncaught } from "./uncaught.ts";

interface HttpServerParts {
  readonly runtime: Runtime;
  readonly settings: HttpServerSettings;
  /** Recognizes the token of the server; absent if it requires none. */
  readonly isToken: ((token: string) => boolean) | undefined;
  readonly session: Pick<CliSession, "folders" | "flags">;
  readonly log: ServeLog;
  /** The connections that share the limits of the server. */
  readonly connections?: Connections;
  /** The server that listens already; by default a new one is opened. */
  readonly early?: EarlyServer | undefined;
}

interface StartedHttpServer extends HttpServer {
  /** Absent if the settings switch it off. */
  readonly console: Console | undefined;
}

/** Serves a runtime over HTTP with the console, and announces the server to `skillgate console`. */
export async function startHttpServer(parts: HttpServerParts): Promise<StartedHttpServer> {
  const { runtime, settings, isToken, session, log, connections, early } = parts;
  const { serveHttp } = await import("../http/index.ts");
  const { announceServer, createConsole } = await import("../console/index.ts");
  const { store, settingsFile, ownSkills: skillsFolder } = await session.folders();
  const config = { options: configOptions(session.flags), settingsFile, skillsFolder };
  const console = settings.console ? createConsole(runtime, { config }) : undefined;
  const say = (text: string): void => log.say(text, "warn");
  const server = await serveHttp(runtime, settings, isToken, {
    log: say,
    pages: console,
    early,
    ...(connections && { connections }),
  });
  serveOnUncaught(runtime.secrets, log);
  const withdraw =
    console && announce(() => announceServer(store, { url: server.url, secret: console.linkSecret }), say);
  return {
    console,
    url: server.url,
    close() {
      withdraw?.();
      return server.close();
    },
  };
}

/** Announces a server, which serves as well if its file cannot be written. */
function announce(write: () => () => void, say: (text: string) => void): (() => void) | undefined {
  try {
    return write();
  } catch (thrown) {
    say(`skillgate console does not find this server: ${getMessage(thrown)}`);
    return undefined;
  }
}
