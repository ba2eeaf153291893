import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The server to which the browser returns after the user has allowed or denied access. */
export interface Callback {
  readonly redirectUrl: string;
  /** Resolves with the URL on which the browser returned for this state; requests for other flows are refused. */
  arrived(state: string): Promise<URL>;
  close(): void;
}

const PATH = "/callback";

/** Listens on the loopback address; on a free port if the requested one is in use. */
export async function listenForCallback(port: number): Promise<Callback> {
  const server = createServer();
  await listening(server, port).catch(() => listening(server, 0));
  const { port: boundPort } = server.address() as AddressInfo;
  const redirectUrl = `http://127.0.0.1:${boundPort}${PATH}`;
  return {
    redirectUrl,
    arrived: (state) =>
      new Promise((resolve) => {
        server.on("request", ({ url: target = "" }, response) => {
          const url = URL.canParse(target, redirectUrl) ? new URL(target, redirectUrl) : undefined;
          const { status, text } = replyTo(url, state);
          response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(text);
          if (status === 200 && url !== undefined) resolve(url);
        });
      }),
    close: () => void server.close(),
  };
}

function replyTo(url: URL | undefined, state: string): { readonly status: number; readonly text: string } {
  const { pathname, searchParams } = url ?? {};
  if (pathname !== PATH || !(searchParams?.has("code") || searchParams?.has("error")))
    return { status: 404, text: "Not found\n" };
  if (searchParams.get("state") !== state)
    return { status: 400, text: "Cannot use this answer: it belongs to another login. Go back to the terminal.\n" };
  return { status: 200, text: "Done. You can close this page and go back to the terminal.\n" };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  const ready = once(server, "listening");
  server.listen(port, "127.0.0.1");
  await ready;
}
