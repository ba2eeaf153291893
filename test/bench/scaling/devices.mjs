// Calls of a method of a device with keys, over NATS, beside calls of the same method in this process.

import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createRuntime } from "../../../dist/src/index.js";
import { interleaved, table } from "../measure.mjs";
import { startProcess } from "./processes.mjs";

const ROUNDS = 20;
const BATCH = 50;

const SKILL = `
/** Repeats texts. */
export class EchoSkill {
  /**
   * Repeat a text.
   * @param {string} text
   */
  read(text) { return text; }
}
`;

/** Prints the time of one call of each kind, and their ratio. */
export async function printDeviceCalls({ nats, location }) {
  const { folder } = location("devices");
  const keys = { controller: createKey(folder, "controller"), kitchen: createKey(folder, "kitchen") };
  const peers = { controller: keys.controller.publicKey, kitchen: keys.kitchen.publicKey };
  const sign = (name) => ({ url: nats.url, name, key: keys[name].file, peers });
  mkdirSync(join(folder, "skills"));
  writeFileSync(join(folder, "skills/echo.mjs"), SKILL);
  writeFileSync(join(folder, "settings.yaml"), `nodes: ${JSON.stringify(sign("kitchen"))}\n`);
  const device = await startProcess(folder, ["node", "join"], /connected to/);
  const options = { cwd: folder, skillsDir: "skills", typecheck: false, trust: "given", nodes: sign("controller") };
  const runtime = await createRuntime(options);
  try {
    await runtime.ready;
    while (runtime.catalog.method("kitchen.EchoSkill.read") === undefined) await pause(20);
    const jobs = {
      here: async () => void (await runtime.call("EchoSkill.read", { text: "a" })),
      there: async () => void (await runtime.call("kitchen.EchoSkill.read", { text: "a" })),
    };
    const { here, there } = await interleaved(jobs, ROUNDS, BATCH);
    const columns = ["", "in this process", "device with keys", "difference", "ratio"];
    table("One call of a method (ms)", columns, [
      ["a method that repeats a text", here, there, there - here, there / here],
    ]);
  } finally {
    await runtime.close();
    await device.kill();
  }
}

function createKey(folder, name) {
  mkdirSync(folder, { recursive: true });
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const file = join(folder, `${name}.pem`);
  writeFileSync(file, privateKey.export({ format: "pem", type: "pkcs8" }), { mode: 0o600 });
  return { file, publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64url") };
}
