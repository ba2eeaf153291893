import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The server to which the browser returns after the user has allowed or denied access. */
export interface Callback {
  readonly redirectUrl: string;
  /**
   * Resolves with the URL on which the browser returned for this state; requests for other flows are refused. The page shows the text
   * of `answer`, one line.
   */
  arrived(state: string, answer?: (url: URL) => Promise<string>): Promise<URL>;
  close(): void;
}

const DEFAULT_PATH = "/callback";

/** Returns the path to which a browser returns from the provider of an account, at a server and on the loopback address. */
export function getCallbackPath(account: string): string {
  return `/connect/${encodeURIComponent(account)}/callback`;
}

export interface CallbackOptions {
  /** The provider knows only this port, so that no other one is used instead. */
  readonly isPortExact?: boolean;
  /** `/callback` by default. */
  readonly path?: string;
}

/** Listens on the loopback address; on a free port if the requested one is in use, unless `isPortExact`. */
export async function listenForCallback(
  port: number,
  { isPortExact = false, path = DEFAULT_PATH }: CallbackOptions = {},
): Promise<Callback> {
  const server = createServer();
  await listening(server, port).catch((error: unknown) => {
    if (isPortExact) throw error;
    return listening(server, 0);
  });
  const { port: boundPort } = server.address() as AddressInfo;
  const redirectUrl = `http://127.0.0.1:${boundPort}${path}`;
  return {
    redirectUrl,
    arrived: (state, answer = async () => "Done. You can close this page and go back to the terminal.") =>
      new Promise((resolve) => {
        let answered: Promise<string> | undefined;
        server.on("request", ({ url: target = "" }, response) => {
          const url = URL.canParse(target, redirectUrl) ? new URL(target, redirectUrl) : undefined;
          const send = (status: number, text: string, onEnd = (): void => {}): void =>
            void response.writeHead(status, HEADERS).end(`${text}\n`, onEnd);
          const refusal = findRefusal(url, path, state);
          if (refusal !== undefined || url === undefined)
            return send(refusal?.status ?? 404, refusal?.text ?? NOT_FOUND);
          answered ??= answer(url); // a browser may load the page again
          void answered.then((text) => send(200, text, () => resolve(url)));
        });
      }),
    close: () => void server.close(),
  };
}

const HEADERS = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
  connection: "close",
};

const NOT_FOUND = "Not found";

/** Says why a request is not the return of the browser for this state. */
function findRefusal(
  url: URL | undefined,
  path: string,
  state: string,
): { readonly status: number; readonly text: string } | undefined {
  const { pathname, searchParams } = url ?? {};
  if (pathname !== path || !(searchParams?.has("code") || searchParams?.has("error")))
    return { status: 404, text: NOT_FOUND };
  if (searchParams.get("state") === state) return undefined;
  return { status: 400, text: "Cannot use this answer: it belongs to another login. Go back to the terminal." };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  const ready = once(server, "listening");
  server.listen(port, "127.0.0.1");
  await ready;
}
