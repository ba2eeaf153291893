import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Where the browser comes back to after a person has allowed access, or has not. */
export interface Callback {
  readonly redirectUrl: string;
  /** The address with which it came back. */
  readonly arrived: Promise<URL>;
  close(): void;
}

const PATH = "/callback";

/** Listens on the loopback address; on a free port if the wanted one is taken. */
export async function listenForCallback(port: number): Promise<Callback> {
  const server = createServer();
  await listening(server, port).catch(() => listening(server, 0));
  const { port: taken } = server.address() as AddressInfo;
  const redirectUrl = `http://127.0.0.1:${taken}${PATH}`;
  const arrived = new Promise<URL>((resolve) => {
    server.on("request", (request, response) => {
      const url = new URL(request.url ?? "", redirectUrl);
      const isMeant = url.pathname === PATH && (url.searchParams.has("code") || url.searchParams.has("error"));
      const text = isMeant ? "Done. You can close this page and go back to the terminal.\n" : "Not found\n";
      response.writeHead(isMeant ? 200 : 404, { "content-type": "text/plain", connection: "close" }).end(text);
      if (isMeant) resolve(url);
    });
  });
  return { redirectUrl, arrived, close: () => void server.close() };
}

async function listening(server: ReturnType<typeof createServer>, port: number): Promise<void> {
  const ready = once(server, "listening");
  server.listen(port, "127.0.0.1");
  await ready;
}
