import { createHash, createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";

import {
  type DeliveryHeaders,
  type DeliveryInput,
  findSecretFlaw,
  type VerifiedDelivery,
  verifyDelivery,
  type Webhook,
} from "../../../src/automations/webhook/index.ts";
import { SERVICES } from "../../../src/automations/webhook/services.ts";
import { hmac, NOW, parse, SECONDS, SECRET, signers, WHSEC } from "./deliveries.ts";

const MB = 1 << 20;

/** A delivery with the value that a program gets. */
type Verified =
  | Exclude<VerifiedDelivery, { readonly kind: "delivery" }>
  | { readonly kind: "delivery"; readonly delivery: string; readonly input: DeliveryInput };

function verify(
  webhook: Webhook,
  { headers, body }: { readonly headers: DeliveryHeaders; readonly body: string | Uint8Array },
  secrets: readonly string[] = [SECRET],
  now = NOW,
): Verified {
  const result = verifyDelivery(webhook, secrets, { headers, body: Buffer.from(body), now });
  if (result.kind !== "delivery") return result;
  expect(result.input).toMatchObject({ json: JSON.stringify(result.input.value), isForeign: true });
  return { ...result, input: result.input.value as DeliveryInput };
}

/** Signs any bytes as GitHub does, with headers of the test. */
function signBody(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return { headers: { "x-hub-signature-256": `sha256=${hmac(body).toString("hex")}`, ...headers }, body };
}

const github = parse("github");
const stripe = parse("stripe");
const slack = parse("slack");
const standard = parse("standard");
const token = parse("token");

describe("the vectors of services and their libraries", () => {
  test("GitHub's documentation", () => {
    const headers = {
      "x-hub-signature-256": "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
      "content-type": "text/plain",
    };
    expect(verify(github, { headers, body: "Hello, World!" }, ["It's a Secret to Everybody"])).toMatchObject({
      kind: "delivery",
      input: { body: "Hello, World!" },
    });
  });

  test("@octokit/webhooks-methods", () => {
    const headers = {
      "x-hub-signature-256": "sha256=4864d2759938a15468b5df9ade20bf161da9b4f737ea61794142f3484236bda3",
    };
    const body = '{"foo":"bar"}';
    expect(verify(github, { headers, body }, ["mysecret"])).toMatchObject({ input: { body: { foo: "bar" } } });
  });

  test("Slack's documentation", () => {
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const secrets = ["8f742231b10e8888abcd99yyyzzz85a5"];
    expect(verify(slack, { headers, body }, secrets, 1_531_420_618_000)).toMatchObject({
      input: { event: "/webhook-collect", body: { user_name: "roadrunner", text: "" } },
    });
  });

  const message = {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: "1614265330",
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    body: '{"test": 2432232314}',
  };

  test.each(["webhook", "svix"])("Standard Webhooks, with the headers %s-…", (name) => {
    const headers = {
      [`${name}-id`]: message.id,
      [`${name}-timestamp`]: message.timestamp,
      [`${name}-signature`]: message.signature,
    };
    for (const secret of ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
      expect(verify(standard, { headers, body: message.body }, [secret], 1_614_265_330_000)).toMatchObject({
        delivery: message.id,
        input: { body: { test: 2_432_232_314 } },
      });
  });

  test("Zendesk's documentation, whose pattern has no separator", () => {
    const zendesk = parse({
      type: "hmac",
      header: "X-Zendesk-Webhook-Signature",
      encoding: "base64",
      signed: "{body}{timestamp}",
      timestampHeader: "X-Zendesk-Webhook-Signature-Timestamp",
    });
    const headers = {
      "x-zendesk-webhook-signature": "tRDSF7URY8BLCDlaBcQ7FHu051Zk+aAB0NKMP53teMw=",
      "x-zendesk-webhook-signature-timestamp": "2021-07-25T10:00:00Z",
    };
    const secrets = ["HRkRd4BeOAoUkfZr-mhauJT64rvBASlJRoIyPsd3zeA="];
    const now = Date.parse("2021-07-25T10:00:00Z");
    expect(verify(zendesk, { headers, body: '{"say": "hello"}' }, secrets, now)).toMatchObject({ kind: "delivery" });
  });
});

describe("services that have settings instead of a name", () => {
  const body = JSON.stringify({ action: "create", webhookTimestamp: NOW, event: { id: "evt_7" } });

  test("Shopify: base64 of the body", () => {
    const shopify = parse({
      type: "hmac",
      header: "X-Shopify-Hmac-Sha256",
      encoding: "base64",
      eventHeader: "X-Shopify-Topic",
    });
    const headers = { "x-shopify-hmac-sha256": hmac(body).toString("base64"), "x-shopify-topic": "orders/create" };
    expect(verify(shopify, { headers, body })).toMatchObject({
      input: { event: "orders/create", headers: { "x-shopify-topic": "orders/create" } },
    });
  });

  test("Linear: the time is a field of the body", () => {
    const linear = parse({
      type: "hmac",
      header: "Linear-Signature",
      timestampField: "webhookTimestamp",
      eventField: "action",
    });
    const headers = { "linear-signature": hmac(body).toString("hex") };
    expect(verify(linear, { headers, body })).toMatchObject({ input: { event: "create" } });
    expect(verify(linear, { headers, body }, [SECRET], NOW + 301_000)).toMatchObject({
      why: expect.stringContaining("it is 301 s old"),
    });
  });

  test("PagerDuty: one signature for each secret, and the id is a field of the body", () => {
    const pagerDuty = parse({ type: "hmac", header: "X-PagerDuty-Signature", prefix: "v1=", idField: "event.id" });
    const signatures = ["another secret", SECRET].map((secret) => `v1=${hmac(body, secret).toString("hex")}`);
    const headers = { "x-pagerduty-signature": signatures.join(",") };
    expect(verify(pagerDuty, { headers, body })).toMatchObject({ delivery: "evt_7" });
  });

  test("Paddle: the header has the time", () => {
    const paddle = parse({
      type: "hmac",
      header: "Paddle-Signature",
      prefix: "h1=",
      timestampPrefix: "ts=",
      signed: "{timestamp}:{body}",
    });
    const headers = { "paddle-signature": `ts=${SECONDS};h1=${hmac(`${SECONDS}:${body}`).toString("hex")}` };
    expect(verify(paddle, { headers, body })).toMatchObject({ kind: "delivery" });
  });

  test("Twitch: the id and the time in ISO 8601 touch", () => {
    const twitch = parse({
      type: "hmac",
      header: "Twitch-Eventsub-Message-Signature",
      prefix: "sha256=",
      signed: "{id}{timestamp}{body}",
      idHeader: "Twitch-Eventsub-Message-Id",
      timestampHeader: "Twitch-Eventsub-Message-Timestamp",
    });
    const time = "2026-11-27T05:00:00.123456789Z";
    const sign = (id: string, at: string, text: string) => ({
      headers: {
        "twitch-eventsub-message-id": id,
        "twitch-eventsub-message-timestamp": at,
        "twitch-eventsub-message-signature": `sha256=${hmac(`e76c6bd4${time}${body}`).toString("hex")}`,
      },
      body: text,
    });
    expect(verify(twitch, sign("e76c6bd4", time, body))).toMatchObject({ delivery: "e76c6bd4" });
    expect(verify(twitch, sign("e76c6bd", `4${time}`, body))).toMatchObject({ kind: "unverified" });
    expect(verify(twitch, sign(`e76c6bd4${time.slice(0, 1)}`, time.slice(1), body))).toMatchObject({
      kind: "unverified",
    });
    expect(verify(twitch, sign(`e76c6bd4${time}{`, time, body.slice(1)))).toMatchObject({ kind: "unverified" });
    expect(verify(twitch, { ...signTwitch("e76c6bd4", SECONDS, body) })).toMatchObject({
      why: "the time must be in ISO 8601, because nothing separates it from the id",
    });
    expect(verify(twitch, { ...signTwitch("e76c6bd4", time, "plain text") })).toMatchObject({
      why: "its body is not JSON, and nothing separates it from what else is signed",
    });
  });

  function signTwitch(id: string, at: string, text: string) {
    return {
      headers: {
        "twitch-eventsub-message-id": id,
        "twitch-eventsub-message-timestamp": at,
        "twitch-eventsub-message-signature": `sha256=${hmac(`${id}${at}${text}`).toString("hex")}`,
      },
      body: text,
    };
  }

  test.each(["sha1", "sha512"] as const)("signatures with %s", (algorithm) => {
    const hook = parse({ type: "hmac", header: "X-Signature", algorithm });
    const headers = { "x-signature": hmac(body, SECRET, algorithm).toString("hex").toUpperCase() };
    expect(verify(hook, { headers, body })).toMatchObject({ kind: "delivery" });
  });

  test("GitLab: a token, with the id of the delivery in a header", () => {
    const gitlab = parse({
      type: "token",
      header: "X-Gitlab-Token",
      idHeader: "Idempotency-Key",
      eventHeader: "X-Gitlab-Event",
    });
    const headers = { "x-gitlab-token": SECRET, "idempotency-key": "f5e5f430", "x-gitlab-event": "Push Hook" };
    expect(verify(gitlab, { headers, body })).toMatchObject({ delivery: "f5e5f430", input: { event: "Push Hook" } });
    expect(JSON.stringify(verify(gitlab, { headers, body }))).not.toContain(SECRET);
  });
});

describe("the value of device.input()", () => {
  test("has the body, the headers of the service, the event, the id and the time", () => {
    const delivery = signers.github('{"ref":"refs/heads/main"}');
    expect(
      verify(github, { ...delivery, headers: { ...delivery.headers, cookie: "a=b", "x-forwarded-for": "::1" } }),
    ).toEqual({
      kind: "delivery",
      delivery: `sha256-${createHash("sha256").update(delivery.body).digest("hex")}`,
      input: {
        body: { ref: "refs/heads/main" },
        headers: {
          "content-type": "application/json",
          "x-github-event": "push",
          "x-github-delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
        },
        event: "push",
        delivery: `sha256-${createHash("sha256").update(delivery.body).digest("hex")}`,
        receivedAt: "2026-11-27T05:00:00.000Z",
      },
    });
  });

  test.each<readonly [string, string, unknown]>([
    ["application/json", '{"id":9007199254740993}', { id: "9007199254740993" }],
    ["application/cloudevents+json; charset=utf-8", "[1]", [1]],
    ["application/json", "5", 5],
    ["text/plain", '{"a":1}', { a: 1 }],
    ["text/plain", "[alert] the disk is full", "[alert] the disk is full"],
    ["text/xml", "<a/>", "<a/>"],
    ["", '{"a":1}', { a: 1 }],
    ["", "", null],
    ["application/x-www-form-urlencoded", "a=1&a=2&b=%C3%A9+x", { a: ["1", "2"], b: "é x" }],
    ["application/x-www-form-urlencoded", "payload=%7B%22ref%22%3A%22main%22%7D", { ref: "main" }],
  ])("has the body of the type %s: %s", (type, body, value) => {
    expect(verify(github, signBody(body, type === "" ? {} : { "content-type": type }))).toMatchObject({
      input: { body: value },
    });
  });

  test("has names such as __proto__ as members of their own", () => {
    const result = verify(github, signBody('{"__proto__":{"isAdmin":true},"constructor":1}'));
    const body = result.kind === "delivery" ? (result.input.body as object) : {};
    expect(Object.keys(body)).toEqual(["__proto__", "constructor"]);
    expect("isAdmin" in body).toBe(false);
    const form = verify(github, signBody("__proto__=1", { "content-type": "application/x-www-form-urlencoded" }));
    expect(form.kind === "delivery" && Object.keys(form.input.body as object)).toEqual(["__proto__"]);
  });
});

describe("ids by which a repeated delivery is recognized", () => {
  test("are those that the service signs", () => {
    expect(verify(stripe, signers.stripe('{"id":"evt_1","type":"charge.failed"}'))).toMatchObject({
      delivery: "evt_1",
      input: { event: "charge.failed" },
    });
    expect(verify(slack, signers.slack('{"event_id":"Ev1","event":{"type":"app_mention"}}'))).toMatchObject({
      delivery: "Ev1",
      input: { event: "app_mention" },
    });
    expect(verify(standard, signers.standard('{"type":"a.b"}'), [WHSEC])).toMatchObject({ delivery: "msg_1" });
  });

  test("do not change with the header X-GitHub-Delivery", () => {
    const { headers, body } = signers.github("{}");
    const repeated = verify(github, { headers: { ...headers, "x-github-delivery": "another" }, body });
    expect(repeated).toMatchObject({ delivery: getDelivery(verify(github, { headers, body })) });
  });

  test("do not change with the writing of the signature, or with the secret that signs", () => {
    const { headers, body } = signers.github("{}");
    const upper = String(headers["x-hub-signature-256"]).replace(/(?<==).*/, (hex) => hex.toUpperCase());
    const ids = [
      verify(github, { headers, body }),
      verify(github, { headers: { ...headers, "x-hub-signature-256": upper }, body }),
      verify(github, signers.github("{}", "the next secret"), [SECRET, "the next secret"]),
    ].map(getDelivery);
    expect(new Set(ids).size).toBe(1);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "application/xml"])(
    "do not change with the type of the body, which is not signed: %s",
    (type) => {
      const { headers, body } = signers.stripe('{"id":"evt_1"}');
      expect(verify(stripe, { headers: { ...headers, "content-type": type }, body })).toMatchObject({
        delivery: "evt_1",
      });
    },
  );

  test("are digests where the id in the body is not short and visible", () => {
    expect(getDelivery(verify(stripe, signers.stripe(`{"id":"${"x".repeat(201)}"}`)))).toMatch(/^sha256-[0-9a-f]{64}$/);
    expect(getDelivery(verify(stripe, signers.stripe('{"id":"a\\u0000b"}')))).toMatch(/^sha256-[0-9a-f]{64}$/);
  });

  test("are new for each request with a token and without an id", () => {
    const [one, other] = [1, 2].map(() => getDelivery(verify(token, signers.token("{}"))));
    expect(one).not.toBe(other);
  });

  function getDelivery(result: Verified): string {
    return result.kind === "delivery" ? result.delivery : result.kind;
  }
});

describe("tests by services", () => {
  test("a ping of GitHub is answered", () => {
    const { headers, body } = signers.github('{"zen":"Keep it logically awesome.","hook_id":1}');
    expect(verify(github, { headers: { ...headers, "x-github-event": "ping" }, body })).toEqual({
      kind: "test",
      answer: '{"pong":true}',
    });
    // The header is not signed: it cannot make a test of a delivery.
    const push = signers.github('{"ref":"main"}');
    expect(verify(github, { ...push, headers: { ...push.headers, "x-github-event": "ping" } })).toMatchObject({
      kind: "delivery",
    });
  });

  test("a url_verification of Slack is answered with its challenge once its signature is checked", () => {
    const delivery = signers.slack('{"type":"url_verification","challenge":"3eZbrw1a"}');
    expect(verify(slack, delivery)).toEqual({ kind: "test", answer: '{"challenge":"3eZbrw1a"}' });
    expect(verify(slack, delivery, ["another secret"])).toMatchObject({ kind: "unverified" });
    const long = signers.slack(JSON.stringify({ type: "url_verification", challenge: "x".repeat(5_000) }));
    expect(verify(slack, long)).toEqual({ kind: "test", answer: JSON.stringify({ challenge: "x".repeat(1_000) }) });
  });
});

describe("secrets", () => {
  test("are all tried", () => {
    const secrets = ["secret number 1", "secret number 2", "secret number 3", "secret number 4", SECRET];
    expect(verify(github, signers.github("{}"), secrets)).toMatchObject({ kind: "delivery" });
    expect(verify(token, signers.token("{}"), secrets)).toMatchObject({ kind: "delivery" });
  });

  test("are all tried with each signature of a header", () => {
    const { headers, body } = signers.standard("{}");
    const signature = `v1,${hmac("x").toString("base64")} v1a,AAAA ${String(headers["webhook-signature"])}`;
    expect(verify(standard, { headers: { ...headers, "webhook-signature": signature }, body }, [WHSEC])).toMatchObject({
      delivery: "msg_1",
    });
  });

  test("are tried with the signatures of version 1 of Stripe alone", () => {
    const { headers, body } = signers.stripe("{}");
    const [time, signature] = String(headers["stripe-signature"]).split(",");
    const old = (signature ?? "").replace("v1=", "v0=");
    const sign = (...items: readonly unknown[]) =>
      verify(stripe, { headers: { "stripe-signature": items.join(",") }, body });
    expect(sign(time, "v0=6ffbb59b", signature)).toMatchObject({ kind: "delivery" });
    expect(sign(time, old)).toMatchObject({ kind: "unverified" });
  });

  test("that are empty or malformed verify nothing", () => {
    expect(verify(github, signers.github("{}", ""), [""])).toMatchObject({ why: "the webhook has no usable secret" });
    expect(verify(token, signers.token("{}", ""), [""])).toMatchObject({ kind: "unverified" });
    expect(verify(standard, signers.standard("{}", "whsec_"), ["whsec_"])).toMatchObject({
      why: "the webhook has no usable secret",
    });
  });

  test.each<readonly [Webhook, string, string | undefined]>([
    [github, SECRET, undefined],
    [github, "1234567", "must have at least 8 characters"],
    [github, `${SECRET}\n`, "must have no space and no line break at its ends"],
    [stripe, "whsec_is_text_for_stripe", undefined],
    [standard, WHSEC, undefined],
    [standard, SECRET, "must be whsec_ and 24 to 64 bytes in base64"],
  ])("have a form: %#", ({ schemes: [scheme] }, secret, flaw) => {
    expect(findSecretFlaw(scheme, secret)).toBe(flaw);
  });
});

describe("times", () => {
  test.each([-300, 300])("of %i s pass", (seconds) => {
    expect(verify(stripe, signers.stripe('{"id":"evt_1"}'), [SECRET], NOW + seconds * 1_000)).toMatchObject({
      kind: "delivery",
    });
  });

  test.each([
    [301, "it is 301 s old, and the tolerance is 300 s"],
    [-301, "it is 301 s in the future, and the tolerance is 300 s"],
  ])("of %i s are refused", (seconds, why) => {
    for (const [webhook, delivery, secret] of [
      [stripe, signers.stripe("{}"), SECRET],
      [slack, signers.slack("{}"), SECRET],
      [standard, signers.standard("{}"), WHSEC],
    ] as const)
      expect(verify(webhook, delivery, [secret], NOW + seconds * 1_000)).toMatchObject({
        kind: "unverified",
        why: expect.stringContaining(why),
      });
  });

  test.each([
    "",
    "soon",
    "1e9",
    "-1795755600",
    "99999999999",
    "2026-11-27",
    "2026-13-27T05:00:00Z",
    "2026-11-27T05:00:00",
  ])("in another form are refused: %o", (time) => {
    expect(verify(slack, signers.slack("{}", SECRET, time))).toMatchObject({ kind: "unverified" });
  });
});

describe("hostile requests", () => {
  const { headers, body } = signers.github("{}");
  const signature = String(headers["x-hub-signature-256"]);

  test.each<readonly [string, Record<string, string | readonly string[]>, string]>([
    ["no signature", {}, "the header x-hub-signature-256 is absent: is the secret set at the service?"],
    ["an empty signature", { "x-hub-signature-256": " " }, "the header x-hub-signature-256 is absent"],
    [
      "SHA-1 alone",
      { "x-hub-signature": `sha1=${hmac("{}", SECRET, "sha1").toString("hex")}` },
      "the header x-hub-signature-256 is absent",
    ],
    [
      "SHA-1 in its header",
      { "x-hub-signature-256": `sha1=${hmac("{}", SECRET, "sha1").toString("hex")}` },
      "the header x-hub-signature-256 has no signature that begins with sha256=",
    ],
    [
      "two headers",
      { "x-hub-signature-256": [signature, signature] },
      "the header x-hub-signature-256 is there 2 times",
    ],
    [
      "base64 for hex",
      { "x-hub-signature-256": `sha256=${hmac("{}").toString("base64")}` },
      "the signature in x-hub-signature-256 is not 32 bytes in hex",
    ],
    [
      "a short signature",
      { "x-hub-signature-256": signature.slice(0, -2) },
      "the signature in x-hub-signature-256 is not 32 bytes in hex",
    ],
    [
      "an odd digit",
      { "x-hub-signature-256": `${signature}a` },
      "the signature in x-hub-signature-256 is not 32 bytes in hex",
    ],
    [
      "17 signatures",
      { "x-hub-signature-256": Array.from({ length: 17 }, () => "sha256=ab").join(",") },
      "the header x-hub-signature-256 has more than 16 signatures",
    ],
    [
      "a huge header",
      { "x-hub-signature-256": `${signature},${"x".repeat(MB)}` },
      "the header x-hub-signature-256 has more than 4096 characters",
    ],
    [
      "another signature",
      { "x-hub-signature-256": `sha256=${hmac("{ }").toString("hex")}` },
      "the signature in x-hub-signature-256 is not that of the secret for this body",
    ],
  ])("%s", (_title, sent, why) => {
    const result = verify(github, { headers: sent, body });
    expect(result).toMatchObject({ kind: "unverified" });
    expect(result.kind === "unverified" ? result.why.slice(0, why.length) : "").toBe(why);
  });

  test.each<readonly [string, Record<string, string>, string]>([
    [
      "no time",
      { "stripe-signature": `v1=${hmac("{}").toString("hex")}` },
      "the header stripe-signature has no time that begins with t=",
    ],
    [
      "two times",
      { "stripe-signature": `t=${SECONDS},t=1,v1=${hmac("{}").toString("hex")}` },
      "the header stripe-signature has more than one time",
    ],
    [
      "only v0",
      { "stripe-signature": `t=${SECONDS},v0=${hmac("{}").toString("hex")}` },
      "the header stripe-signature has no signature that begins with v1=",
    ],
  ])("of Stripe: %s", (_title, sent, why) => {
    expect(verify(stripe, { headers: sent, body: "{}" })).toEqual({ kind: "unverified", why });
  });

  test.each(["a.b", "a b", "é", "x".repeat(201)])("of Standard Webhooks with the id %o", (id) => {
    expect(verify(standard, signers.standard("{}", WHSEC, SECONDS, id), [WHSEC])).toMatchObject({ kind: "unverified" });
  });

  test("cannot move bytes of the body into the id", () => {
    const delivery = signers.standard(`${SECONDS}.{"a":1}`);
    const moved = { ...delivery.headers, "webhook-id": `msg_1.${SECONDS}` };
    expect(verify(standard, { headers: moved, body: '{"a":1}' }, [WHSEC])).toMatchObject({
      why: "the id of the delivery has the character .",
    });
  });

  test("with headers that objects inherit are not misread", () => {
    const hook = parse({ type: "hmac", header: "constructor", eventHeader: "toString" });
    expect(verify(hook, { headers: {}, body: "{}" })).toMatchObject({
      why: expect.stringContaining("constructor is absent"),
    });
  });

  const json = { "content-type": "application/json" };
  const form = { "content-type": "application/x-www-form-urlencoded" };

  test.each<readonly [string, string | Uint8Array, Record<string, string>, string]>([
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), json, "it is not valid UTF-8"],
    ["JSON that is not valid", "{", json, "it is not valid JSON"],
    ["an empty body as JSON", "", json, "it is not valid JSON"],

    ["500,000 levels", "[".repeat(500_000), json, "it has more than 100000 levels of lists and objects"],
    [
      "20,000 names",
      JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`a${at}`, 0]))),
      json,
      "it has an object with more than 10000 names",
    ],
    ["gzip", "{}", { ...json, "content-encoding": "gzip" }, 'its Content-Encoding is not supported: "gzip"'],
    [
      "another charset",
      "{}",
      { "content-type": "application/json; charset=utf-16" },
      'its charset is not supported: "utf-16"',
    ],
    ["1,001 fields", "a&".repeat(1_000), form, "it has more than 1000 fields"],
    ["a form with a payload that is not JSON", "payload=x", form, "its field payload is not valid JSON"],
  ])("that are signed and have %s", (_title, text, sent, why) => {
    expect(verify(github, signBody(text, sent))).toEqual({
      kind: "unreadable",
      why: `the body cannot be read: ${why}`,
    });
  });

  test.each<readonly [string, string, string]>([
    ["200 levels", `${"[".repeat(200)}${"]".repeat(200)}`, "it has more than 200 levels (INPUT_INVALID)"],
    [
      "50,000 values with the facts about it",
      JSON.stringify(Array.from({ length: 49_999 }, () => 0)),
      "it has more than 50000 values (INPUT_INVALID)",
    ],
    [
      "a number that no program can hold",
      "[1e400]",
      'its member "body[0]" is Infinity, and JSON has no such value (INPUT_INVALID)',
    ],
  ])("that no run can have as its input: %s", (_title, text, why) => {
    expect(verify(github, signBody(text, json))).toMatchObject({
      kind: "unreadable",
      why: expect.stringContaining(why),
    });
  });

  test("199 levels pass", () => {
    expect(verify(github, signBody(`${"[".repeat(199)}${"]".repeat(199)}`))).toMatchObject({ kind: "delivery" });
  });
});

test("a body with more values than a run may have is refused before it is parsed", () => {
  const secret = "a secret of the test";
  const verifyBody = (text: string): ReturnType<typeof verifyDelivery> => {
    const body = Buffer.from(text);
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
    const headers = { "x-hub-signature-256": signature, "content-type": "application/json" };
    return verifyDelivery({ schemes: SERVICES.github }, [secret], { headers, body, now: Date.now() });
  };
  for (const value of ["[]", "1e400"]) {
    const text = `[${`${value},`.repeat(Math.floor((1 << 20) / (value.length + 1)) - 1)}1]`;
    expect(verifyBody(text)).toEqual({
      kind: "unreadable",
      why: "the body cannot be read: it has more than 50000 values",
    });
  }
  for (const text of [`[${`{"a":1},`.repeat(25_000)}1]`, "[".repeat(60_000)])
    expect(verifyBody(text)).toMatchObject({ why: "the body cannot be read: it has more than 50000 values" });
  expect(verifyBody(JSON.stringify({ text: ",".repeat(60_000) }))).toMatchObject({ kind: "delivery" });
  expect(verifyBody(`[${" [ ] ,".repeat(49_000)}{ } ]`)).toMatchObject({ kind: "delivery" });
});

const list = (number: string, count: number): string => `[${Array.from({ length: count }, () => number).join()}]`;

test("reads 5,000 integers of 16 digits or more, and refuses more", () => {
  expect(verify(github, signBody(list("1234567890123456", 5_000)))).toMatchObject({ kind: "delivery" });
  expect(verify(github, signBody(list("1234567890123456", 5_001)))).toEqual({
    kind: "unreadable",
    why: "the body cannot be read: it has more than 5000 integers of 16 digits or more",
  });
});

test.each(["1.0", "1e5", "0.12345678901234567", "-0.0000001"])("reads 49,000 numbers such as %s", (number) => {
  const verified = verify(github, signBody(list(number, 49_000)));
  if (verified.kind !== "delivery") throw new TypeError(JSON.stringify(verified));
  const body = verified.input.body as readonly number[];
  expect([body.length, new Set(body)]).toEqual([49_000, new Set([Number(number)])]);
});
