import { writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Client as NewClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";

import type { Runtime } from "../../../../src/index.ts";
import type { ReadContext } from "../../../../src/model/mcp-features.ts";
import type { Library } from "../../../../src/surfaces/mcp/features/resources.ts";
import { ClientSubscriptions } from "../../../../src/surfaces/mcp/features/subscriptions.ts";
import { folder, newClient, type Parsed } from "../../serving.ts";
import { openLegacy } from "../raw-client.ts";
import { serveDescribed } from "./described.ts";

const URI = "note://today";
const watched = (more: object = {}) => ({
  capabilities: { resources: { subscribe: true, listChanged: true }, prompts: { listChanged: true } },
  resources: [{ uri: URI, name: "today" }],
  contents: { [URI]: "text" },
  ...more,
});

/** The requests that a server has received for subscriptions. */
async function received(runtime: Runtime, skill: string): Promise<readonly Parsed[]> {
  const { received: all } = (await runtime.call(`${skill}.received`, {})) as Parsed;
  return all.filter(
    ({ method, notifications }: Parsed) =>
      /^resources\/(un)?subscribe$/.test(method) || notifications?.resourceSubscriptions !== undefined,
  );
}

const emit = (runtime: Runtime, skill: string, method: string, params: object = {}) =>
  runtime.call(`${skill}.emit`, { method, params });

/** The notifications that a client has heard, in their order. */
function listenTo(client: NewClient): readonly string[] {
  const heard: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void heard.push(params.uri));
  for (const list of ["tools", "resources", "prompts"] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, () => void heard.push(list));
  return heard;
}

async function openLegacyClient(url: string): Promise<NewClient> {
  return newClient(url.replace(/\/mcp.*$/, ""), {}, new URL(url).pathname, "legacy");
}

test("a subscription that is ended while the server is asked for it is made and ended [V1] [M7]", async () => {
  let resolve = (_stop: () => void): void => {};
  const asked = new Promise<() => void>((resolver) => (resolve = resolver));
  let ends = 0;
  const offers = { subscribe: () => asked };
  const library = { offers: { find: () => [{ offers, uri: URI }] } } as unknown as Library;
  const subscriptions = new ClientSubscriptions(() => {});
  const added = subscriptions.add(URI, library, {} as ReadContext);
  subscriptions.remove(URI);
  resolve(() => ends++);
  await added;
  expect(ends).toBe(1);
  subscriptions.close();
  expect(ends).toBe(1);
});

describe("a subscription of a client of 2025", () => {
  test("is made once at the server, forwarded, and ended with the last subscriber [V1] [M7]", async () => {
    const { url, runtime } = await serveDescribed({ a: watched(), b: watched() });
    const [first, second] = [await openLegacyClient(url), await openLegacyClient(url)];
    const heard = [listenTo(first), listenTo(second)];
    await first.listResources();
    const own = "note://b.skillgate/today";
    await first.subscribeResource({ uri: own });
    await second.subscribeResource({ uri: own });
    expect(await received(runtime, "BMCP")).toEqual([{ method: "resources/subscribe", uri: URI }]);
    expect(await received(runtime, "AMCP")).toEqual([]);
    await emit(runtime, "AMCP", "notifications/resources/updated", { uri: URI });
    await emit(runtime, "BMCP", "notifications/resources/updated", { uri: URI });
    await emit(runtime, "BMCP", "notifications/resources/updated", { uri: `${URI}/noon` });
    await expect
      .poll(() => heard)
      .toEqual([
        [own, "note://b.skillgate/today/noon"],
        [own, "note://b.skillgate/today/noon"],
      ]);
    await first.unsubscribeResource({ uri: own });
    expect(await received(runtime, "BMCP")).toHaveLength(1);
    await (second.transport as StreamableHTTPClientTransport).terminateSession();
    const all = () => received(runtime, "BMCP");
    await expect
      .poll(all)
      .toEqual(["subscribe", "unsubscribe"].map((word) => ({ method: `resources/${word}`, uri: URI })));
  });

  test("is refused with -32601 if the server has none [V1]", async () => {
    const { url } = await serveDescribed({ mute: { resources: [{ uri: URI, name: "today" }] } });
    const client = await openLegacy(url);
    for (const uri of [URI, "skillgate://declarations", "unknown://x"])
      await expect(client.request("resources/subscribe", { uri })).rejects.toMatchObject({ code: -32601 });
  });

  test("is refused to who may not read, and ends with that right [P1] [V1]", async () => {
    const settings = join(folder(), "settings.yaml");
    writeFileSync(settings, 'profiles: { blind: { permissions: ["call:AMCP.*"], except: [AMCP.resources_read] } }');
    const { url, runtime } = await serveDescribed({ a: watched() }, {}, { settings });
    const client = await openLegacy(`${url}/blind`);
    await expect(client.request("resources/subscribe", { uri: URI })).rejects.toThrow("Resource not found");
    expect(await received(runtime, "AMCP")).toEqual([]);
  });

  test("is renewed at a server that has crashed [V1] [M8]", { tags: "rest" }, async () => {
    const { url, runtime } = await serveDescribed({ a: watched() });
    const client = await openLegacyClient(url);
    const heard = listenTo(client);
    await client.subscribeResource({ uri: URI });
    await runtime.call("AMCP.emit", { method: "die" }).catch(() => {});
    await expect.poll(async () => received(runtime, "AMCP").catch(() => []), { timeout: 30_000 }).toHaveLength(1);
    await emit(runtime, "AMCP", "notifications/resources/updated", { uri: URI });
    await expect.poll(() => heard.filter((each) => each === URI)).toEqual([URI]);
  });
});

test("a client of 2026 hears of the resources that it listens to, also of a server of 2026 [V1] [M7]", async () => {
  const { url, runtime } = await serveDescribed({ a: watched(), b: watched({ modern: true }) });
  const client = await newClient(url.replace(/\/mcp$/, ""));
  const heard = listenTo(client);
  await client.listResources();
  const own = "note://b.skillgate/today";
  const subscription = await client.listen({ resourceSubscriptions: [own, "unknown://x"] });
  await expect.poll(() => received(runtime, "BMCP")).toHaveLength(1);
  await emit(runtime, "AMCP", "notifications/resources/updated", { uri: URI });
  await emit(runtime, "BMCP", "notifications/resources/updated", { uri: URI });
  await expect.poll(() => heard).toEqual([own]);
  await subscription.close();
  await emit(runtime, "BMCP", "notifications/resources/updated", { uri: URI });
  expect(heard).toEqual([own]);
});

describe("more subscriptions than a client may have", () => {
  const uris = Array.from({ length: 1_500 }, (_, at) => `note://${at}`);

  test("are left out of a stream of 2026, whose server is asked for all others at once [V1] [V6]", async () => {
    const { url, runtime } = await serveDescribed({ b: watched({ modern: true }) });
    const client = await newClient(url.replace(/\/mcp$/, ""));
    await client.listen({ resourceSubscriptions: [...uris, ...uris] });
    const count = async (): Promise<readonly number[]> =>
      (await received(runtime, "BMCP")).map(({ notifications }: Parsed) => notifications.resourceSubscriptions.length);
    await expect.poll(async () => (await count()).at(-1)).toBe(1_000);
    expect((await count()).length).toBeLessThan(5);
  });

  test("are refused to a client of 2025, also if it sends hundreds at once [V1] [V6]", { tags: "rest" }, async () => {
    const { url, runtime } = await serveDescribed({ a: watched() });
    const client = await openLegacyClient(url);
    const answers: PromiseSettledResult<unknown>[] = [];
    // With a connection for each of all, Node would end those whose headers this busy process sends too late. The
    // limit is within the fourth part.
    for (let at = 0; at < uris.length; at += 300) {
      const part = uris.slice(at, at + 300).map((uri) => client.subscribeResource({ uri }));
      answers.push(...(await Promise.allSettled(part)));
    }
    expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1_000);
    expect(answers.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { message: expect.stringContaining("A client can have 1000 subscriptions") as string },
    });
    expect(await received(runtime, "AMCP")).toHaveLength(1_000);
  });
});

describe.each(["legacy", "auto"] as const)("the change of a list is announced to a client (%s)", (mode) => {
  const open = async (url: string): Promise<readonly [NewClient, readonly string[]]> => {
    const client = await newClient(url.replace(/\/mcp.*$/, ""), {}, new URL(url).pathname, mode);
    const heard = listenTo(client);
    if (mode === "auto")
      await client.listen({ toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true });
    return [client, heard];
  };

  test("only if its list has changed [V1] [P1]", async () => {
    const settings = join(folder(), "settings.yaml");
    writeFileSync(settings, 'profiles: { a: { permissions: ["call:AMCP.*"] }, b: { permissions: ["call:BMCP.*"] } }');
    const { url, runtime, describe } = await serveDescribed({ a: watched(), b: watched() }, {}, { settings });
    const [[, ofA], [clientOfB, ofB]] = [await open(`${url}/a`), await open(`${url}/b`)];
    describe("b", watched({ tools: [{ name: "added" }] }));
    await emit(runtime, "BMCP", "notifications/tools/list_changed");
    await expect.poll(() => ofB).toEqual(["tools"]);
    describe("b", watched({ tools: [{ name: "added" }], resources: [{ uri: "note://other", name: "other" }] }));
    await emit(runtime, "BMCP", "notifications/resources/list_changed");
    await expect.poll(() => ofB).toEqual(["tools", "resources"]);
    const { resources } = await clientOfB.listResources();
    expect(resources[0]?.uri).toBe("note://other");
    await emit(runtime, "BMCP", "notifications/prompts/list_changed");
    await expect.poll(() => ofB).toEqual(["tools", "resources", "prompts"]);
    await emit(runtime, "AMCP", "notifications/resources/list_changed");
    await expect.poll(() => ofA).toEqual(["resources"]);
    expect(ofB).toHaveLength(3);
  });
});
