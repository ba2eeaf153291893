import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import { onTestFinished } from "vitest";

import { createWebhookReceiver, type NewDelivery, type ReceiverParts } from "../../../../src/automations/index.ts";
import type { Runtime } from "../../../../src/runtime.ts";
import { createHookRoute } from "../../../../src/surfaces/http/hooks/index.ts";
import { SERVER_DEFAULTS } from "../../../../src/surfaces/http/index.ts";
import type { RouteEnvironment } from "../../../../src/surfaces/http/services.ts";
import { parse, SECRET } from "../../../automations/webhook/deliveries.ts";

export interface HookServer {
  readonly url: string;
  readonly stored: NewDelivery[];
  readonly lines: string[];
}

/** Serves the route of webhooks, with the webhook `push` of GitHub. */
export async function serveHooks(parts: Partial<ReceiverParts> = {}): Promise<HookServer> {
  const stored: NewDelivery[] = [];
  const lines: string[] = [];
  const webhook = { ...parse("github"), automation: "push-report", secrets: [SECRET] };
  const { receive } = createWebhookReceiver({
    find: async (id) => (id === "push" ? webhook : undefined),
    store: async (delivery) => {
      if (stored.some((each) => each.delivery === delivery.delivery)) return "repeated";
      stored.push(delivery);
      return "new";
    },
    log: (_level, text) => void lines.push(text),
    now: Date.now,
    ...parts,
  });
  const app = new Hono<RouteEnvironment>();
  app.post(
    "/hooks/:id",
    createHookRoute({ runtime: { automations: { receive } } as unknown as Runtime, settings: SERVER_DEFAULTS }),
  );
  const listener = getRequestListener(app.fetch as never, { overrideGlobalObjects: false });
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stored, lines };
}
