import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";

import { defineSkill } from "../../../src/authoring/define-skill.ts";
import { serve, slow, TestSkill, whenSlow } from "../serving.ts";

const paid: string[] = [];

const PaySkill = defineSkill({
  name: "PaySkill",
  description: "Pays",
  methods: {
    pay: {
      description: "Pay",
      approval: "user",
      run: () => {
        paid.push("approved");
        return "paid";
      },
    },
    give: {
      description: "Give",
      run: () => {
        paid.push("given");
        return "given";
      },
    },
  },
});

const PEOPLE = { skills: [PaySkill], approvals: { wait: true } } as const;

/** Keeps the server busy with a call until the returned function ends it. */
async function keepBusy(url: string): Promise<() => void> {
  const controller = new AbortController();
  const began = whenSlow("began");
  const { signal } = controller;
  const headers = { "content-type": "application/json" };
  fetch(`${url}/tools/TestSkill.slow`, { method: "POST", headers, body: "{}", signal }).catch(() => {});
  await began;
  slow.began = () => {};
  return () => controller.abort();
}

function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  return socket.setEncoding("utf8");
}

/** Reads until a text arrives. */
async function readUntil(socket: Socket, text: string): Promise<string> {
  let read = "";
  while (!read.includes(text)) read += String((await once(socket, "data"))[0]);
  return read;
}

const POST = "POST /tools/PaySkill.give HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n";

test("a request on a connection that was kept alive is answered with 503 after the server stops, and does nothing", async () => {
  const { url, close } = await serve({ drainSeconds: 30 }, { skills: [PaySkill, TestSkill] });
  const end = await keepBusy(url);
  paid.length = 0;
  const socket = openSocket(url);
  const { host } = new URL(url);
  const head = POST.replace("127.0.0.1", host);
  // The beginning of the second request is read with the first one: the connection is not idle.
  socket.write(`${head}Content-Length: 2\r\n\r\n{}${head}`);
  await readUntil(socket, '"given"');
  expect(paid).toEqual(["given"]);
  const closed = close();
  socket.write("Content-Length: 2\r\n\r\n{}");
  const answer = await readUntil(socket, "The server is stopping");
  expect(answer).toMatch(/^HTTP\/1\.1 503 /);
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(paid).toEqual(["given"]);
  end();
  await closed;
});

test("a call over a WebSocket is refused after the server stops", async () => {
  const { url, close } = await serve({ drainSeconds: 30 }, { skills: [PaySkill, TestSkill] });
  const end = await keepBusy(url);
  paid.length = 0;
  const client = new WebSocket(`${url.replace("http", "ws")}/ws`);
  await once(client, "open");
  const closed = close();
  const params = { name: "PaySkill.give", arguments: {} };
  client.send(JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }));
  const [data] = (await once(client, "message")) as [Buffer];
  expect(JSON.parse(data.toString())).toMatchObject({
    id: 7,
    error: { data: { reason: "The server is stopping", retryable: true } },
  });
  expect(paid).toEqual([]);
  end();
  await closed;
});

test("a caller whose program waits for a person gets the id of the run as soon as the server stops", async () => {
  const { url, runtime, close } = await serve({ drainSeconds: 30 }, PEOPLE);
  const asked = new Promise<string>((resolve) => runtime.on("approval", ({ runId }) => resolve(runId)));
  const body = JSON.stringify({ code: "return await device.PaySkill.pay()" });
  const headers = { "content-type": "application/json" };
  const answered = fetch(`${url}/tools/run_code`, { method: "POST", headers, body });
  const runId = await asked;
  const closed = close();
  expect(JSON.stringify(await (await answered).json())).toContain(`Run ${runId} waits for approval of PaySkill.pay`);
  await closed;
  expect(paid).not.toContain("approved");
});

test("a program whose person is asked over its connection is answered as well", async () => {
  const { runtime } = await serve({}, PEOPLE);
  let ask = (): void => {};
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const approve = (): Promise<never> => {
    ask();
    return new Promise(() => {});
  };
  const outcome = runtime.run("return await device.PaySkill.pay()", { approve });
  await asked;
  runtime.releaseCallers();
  expect(await outcome).toMatchObject({ kind: "waiting" });
});
