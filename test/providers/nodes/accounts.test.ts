import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { connect, nkeys } from "@nats-io/transport-node";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { NATS_SERVER, type NatsServer, startNats } from "../../support/servers/nats.ts";
import { createEchoSkill, joinWith, openHub, waitForDevice } from "./network.ts";

async function openServer(config: string): Promise<NatsServer> {
  const server = await startNats(config);
  onTestFinished(() => server.close());
  return server;
}

describe.skipIf(NATS_SERVER === undefined)("accounts of a NATS server", () => {
  test("makes calls with the permissions that the documentation gives, and no client reads the messages of others [O3, P7]", async () => {
    const page = readFileSync("docs/machines.md", "utf8");
    const [, example = ""] = /```text\n(authorization \{[\s\S]*?)```/.exec(page) ?? [];
    const server = await openServer(example.replace("$CONTROLLER", "one").replace("$KITCHEN", "two"));
    const kitchen = server.url.replace("//", "//kitchen:two@");
    const { runtime } = await joinWith({ url: kitchen, name: "Kitchen PC" }, { skills: [createEchoSkill("kitchen")] });
    const hub = await openHub({ url: server.url.replace("//", "//controller:one@") });
    await waitForDevice(hub, "kitchen_pc");
    const outcome = await hub.run(
      `[await devices.kitchen_pc.EchoSkill.say("a"), await devices.hub.EchoSkill.say("b")]`,
    );
    expect(outcome).toMatchObject({ kind: "completed", value: ["kitchen: a", "kitchen: b"] });
    runtime.register({ ...createEchoSkill("kitchen"), name: "OtherSkill" });
    await vi.waitUntil(() => hub.catalog.method("kitchen_pc.OtherSkill.say") !== undefined);

    const thief = await connect({
      servers: server.url,
      user: "kitchen",
      pass: "two",
    });
    onTestFinished(() => thief.close());
    for (const subject of ["skillgate.to.office.>", "skillgate.to.controller.>", ">"]) {
      const refused = new Promise<unknown>((resolve) => {
        thief.subscribe(subject, { callback: (error) => resolve(error) });
      });
      expect(String(await refused)).toContain("Permissions Violation for Subscription");
    }
    for (const subject of ["skillgate.nodes.office", "skillgate.to.controller.office.start.session"]) {
      const status = thief.status()[Symbol.asyncIterator]();
      thief.publish(subject);
      const { value } = (await status.next()) as { readonly value: { readonly error?: unknown } };
      expect(String(value.error)).toContain("Permissions Violation for Publish");
    }
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow(/authorization/i);
  });

  test("connects with a file of credentials, and not with those of another operator [O3]", async () => {
    const [own, foreign] = [createOperator(), createOperator()];
    const server = await openServer(own.config);
    const credentials = own.writeCredentials();
    await joinWith({ url: server.url, name: "one", credentials }, { skills: [createEchoSkill("one")] });
    const hub = await openHub({ url: server.url, credentials });
    await waitForDevice(hub, "one");
    expect(await hub.call("one.EchoSkill.say", { text: "a" })).toBe("one: a");
    for (const file of [foreign.writeCredentials(), join(tmpdir(), "missing.creds")]) {
      const stranger = await openHub({ url: server.url, credentials: file });
      expect(stranger.problems).toMatchObject([{ source: "nodes", error: expect.stringContaining("NODES_OFFLINE") }]);
      expect(stranger.nodes).toEqual([]);
    }
  });
});

/** A person that hands out credentials, as the tool `nsc` of NATS does, with one account. */
function createOperator(): { readonly config: string; readonly writeCredentials: () => string } {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()];
  const operatorToken = createToken(operator, operator, { type: "operator", version: 2 });
  const limits = { subs: -1, conn: -1, leaf: -1, imports: -1, exports: -1, data: -1, payload: -1, wildcards: true };
  const accountToken = createToken(operator, account, { type: "account", version: 2, limits });
  return {
    config: `operator: ${operatorToken}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${accountToken} }`,
    writeCredentials() {
      const user = nkeys.createUser();
      const token = createToken(account, user, { type: "user", version: 2, subs: -1, data: -1, payload: -1 });
      const folder = mkdtempSync(join(tmpdir(), "skillgate-credentials-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const file = join(folder, "user.creds");
      const parts = [
        ["NATS USER JWT", token],
        ["USER NKEY SEED", Buffer.from(user.getSeed()).toString()],
      ].map(([title, text]) => `-----BEGIN ${title}-----\n${text}\n------END ${title}------\n`);
      writeFileSync(file, parts.join("\n"), { mode: 0o600 });
      return file;
    },
  };
}

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** Creates the token in which one key says what the holder of another may do. */
function createToken(issuer: KeyPair, holder: KeyPair, nats: object): string {
  const toText = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const sub = holder.getPublicKey();
  const claims = { jti: sub, iat: Math.floor(Date.now() / 1_000), iss: issuer.getPublicKey(), sub, name: sub, nats };
  const text = `${toText({ typ: "JWT", alg: "ed25519-nkey" })}.${toText(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}
