// @module-tag rest

import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { expect, test } from "vitest";

import { temporaryFolder, writeFiles } from "./call.ts";

test("rethrows an error of a host listener as uncaught without failing a call or losing a report [L10]", async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    "skills/talking.ts": `
      import type { CallContext } from "skillgate";
      export async function talk(ms: number, context: CallContext) {
        process.stdout.write("printed " + ms + "\\nand more\\n");
        context.log("info", "said " + ms);
        await new Promise((resolve) => setTimeout(resolve, ms));
        return { ms, pid: process.pid };
      }`,
  });
  const library = new URL("../../../dist/src/index.js", import.meta.url).href;
  const program = `
    const { createRuntime } = await import(${JSON.stringify(library)});
    const heard = [], errors = [];
    process.on("uncaughtException", (error) => errors.push(error.message));
    const log = (level, text) => { heard.push(text); throw new Error("of the listener"); };
    const runtime = await createRuntime({ skillsDir: ${JSON.stringify(join(folder, "skills"))}, log });
    const answers = await Promise.all([60, 30].map((ms) => runtime.call("TalkingSkill.talk", { ms })));
    const once = await runtime.call("TalkingSkill.talk", { ms: 1 });
    const words = ["printed 60", "and more", "said 60", "printed 30", "and more", "said 30", "printed 1", "and more", "said 1"];
    for (let turns = 0; turns < 500 && heard.filter((each) => words.includes(each)).length < words.length; turns++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    const isSame = [...answers, once].every(({ pid }) => pid === once.pid);
    console.log(JSON.stringify({
      ms: [...answers, once].map(({ ms }) => ms), isSame,
      heard: heard.filter((each) => words.includes(each)).sort().join(),
      errors: [...new Set(errors)],
      isEachTold: errors.length === heard.length,
    }));
    await runtime.close();`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    ms: [60, 30, 1],
    isSame: true,
    heard: "and more,and more,and more,printed 1,printed 30,printed 60,said 1,said 30,said 60",
    errors: ["of the listener"],
    isEachTold: true,
  });
});
