import { clientFile, CLIENTS, formatEntryText, type McpClient } from "../../../config/index.ts";
import type { Endpoints } from "../endpoints.ts";
import { type ClientSnippet, KEY_PLACEHOLDER } from "../messages.ts";
import { invalidRequest } from "../problem.ts";
import type { ConsoleServices } from "../services.ts";

/** The name of the server in the files of clients. */
const NAME = "skillgate";

/** The entries by which clients use this server over HTTP. */
export function createConnectEndpoints({ config, http }: ConsoleServices): Endpoints {
  return {
    "GET /connect": ({ c }) => {
      const url = `${readOrigin(c.req.query("origin") ?? http.url())}/mcp`;
      const headers = http.settings.auth ? { Authorization: `Bearer ${KEY_PLACEHOLDER}` } : {};
      const options = config?.options ?? { cwd: process.cwd(), env: process.env };
      const describe = (client: McpClient): ClientSnippet[] => {
        const file = clientFile(client, "user", options);
        if (file === undefined) return [];
        const entry = client.toRemoteEntry(url, headers);
        const text = formatEntryText(file, [...file.serversPath, NAME], entry);
        return [{ id: client.id, title: client.title, file: file.label, text }];
      };
      return { url, clients: CLIENTS.flatMap(describe) };
    },
  };
}

/** Reads the address under which the browser reaches this server, which may be that of a proxy. */
function readOrigin(text: string): string {
  if (text.length <= 300 && URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return new URL(text).origin;
  throw invalidRequest("origin must be an address such as http://127.0.0.1:3333");
}
