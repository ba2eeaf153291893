import { createHmac, randomBytes } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";

import { type AlertOptions, type Alerts, createAlerts, parseSigningSecret } from "../../src/alerts/index.ts";
import { type ReceivedRequest, startApiServer } from "../support/servers/api-server.ts";

const SECRET = `whsec_${randomBytes(32).toString("base64")}`;

function open(url: string, options: Partial<AlertOptions> & { readonly isPrivate?: boolean } = {}) {
  const lines: string[] = [];
  const secret = parseSigningSecret(SECRET);
  if (secret === undefined) throw new TypeError("The secret is malformed");
  const settings = { url: new URL(url), secret, isPrivate: options.isPrivate ?? true };
  const alerts: Alerts = createAlerts(settings, { log: (line) => void lines.push(line), delays: [1, 1], ...options });
  onTestFinished(() => alerts.close());
  return { alerts, lines };
}

const ALERT = { type: "account.reconnect", data: { account: "shop", owner: null } };

/** Checks a message as a receiver does that follows Standard Webhooks. */
function verify({ headers, body }: ReceivedRequest): boolean {
  const key = Buffer.from(SECRET.replace("whsec_", ""), "base64");
  const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${body}`;
  const isFresh = Math.abs(Date.now() / 1_000 - Number(headers["webhook-timestamp"])) < 300;
  return isFresh && headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}

test("sends a signed alert", async () => {
  const receiver = await startApiServer((_request, response) => response.writeHead(204).end());
  const { alerts, lines } = open(`${receiver.origin}/hook`);
  await alerts.send(ALERT);
  const [received] = receiver.received;
  expect(received && verify(received)).toBe(true);
  expect(JSON.parse(received?.body ?? "")).toEqual({ ...ALERT, timestamp: expect.stringMatching(/^\d{4}-.*Z$/) });
  expect(lines).toEqual([]);
});

test("sends an alert again with the same id until the receiver takes it", async () => {
  let answers = 0;
  const receiver = await startApiServer((_request, response) => response.writeHead(++answers < 3 ? 503 : 200).end());
  const { alerts, lines } = open(receiver.origin);
  await alerts.send(ALERT);
  expect(receiver.received).toHaveLength(3);
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(receiver.received.every(verify)).toBe(true);
  expect(lines[0]).toMatch(
    /^The alert account\.reconnect could not be sent to 127\.0\.0\.1:\d+: it answers with status 503; the next attempt is in/,
  );
});

test.each([
  [410, 1],
  [307, 3],
  [500, 3],
])("ends the attempts at a receiver that answers %i", async (status, count) => {
  const receiver = await startApiServer((_request, response) =>
    response.writeHead(status, { location: "/elsewhere" }).end(),
  );
  const { alerts, lines } = open(receiver.origin);
  await alerts.send(ALERT);
  expect(receiver.received).toHaveLength(count);
  expect(lines.at(-1)).toContain("it is not sent again");
});

test("sends nothing to a private address that the settings do not allow", async () => {
  const receiver = await startApiServer((_request, response) => response.end());
  const { alerts, lines } = open(receiver.origin, { isPrivate: false, delays: [] });
  await alerts.send(ALERT);
  expect(receiver.received).toEqual([]);
  expect(lines[0]).toContain("allow it by alerts.private: true");
});

test.each(["whsec_short", "whsec_", "not base64!", `whsec_${Buffer.alloc(65).toString("base64")}`])(
  "refuses the secret %s",
  (text) => expect(parseSigningSecret(text)).toBeUndefined(),
);
