import { expect, test } from "vitest";

import { createRuntime } from "../../src/index.ts";
import { temporaryFolder, writeFiles } from "../providers/skills/call.ts";

test("hides the secrets of a skill in its logs, progress and errors from every listener [L9, P9]", async () => {
  const folder = await temporaryFolder();
  await writeFiles(folder, {
    "settings.yaml": "skills:\n  SpeakerSkill:\n    volume: 3\n    apiKey: the-key-of-the-service\n",
    "skills/speaker.ts": `
      export const settings = {
        type: "object",
        properties: { volume: { type: "integer" }, apiKey: { type: "string", writeOnly: true } },
      };
      export function speak(context: CallContext): number {
        context.log("warn", "I have " + context.secrets.apiKey);
        context.progress(1, 2, "with " + context.secrets.apiKey);
        console.log("printed " + context.secrets.apiKey);
        return context.settings.volume;
      }
      export function fail(context: CallContext): never {
        throw new Error("refused: " + context.secrets.apiKey);
      }`,
  });
  const heard: string[] = [];
  const runtime = await createRuntime({
    skillsDir: `${folder}/skills`,
    settings: `${folder}/settings.yaml`,
    log: (level, text) => heard.push(`${level} ${text}`),
  });
  runtime.on("progress", ({ text }) => heard.push(`progress ${text}`));
  try {
    await expect(runtime.call("SpeakerSkill.speak", {})).resolves.toBe(3);
    await expect(runtime.call("SpeakerSkill.fail", {})).rejects.toThrow(/^refused: \[redacted\]$/);
    await expect
      .poll(() => heard.toSorted())
      .toEqual([
        expect.stringMatching(/^error Error: refused: \[redacted\]\n {4}at fail \(/),
        "info printed [redacted]",
        "progress with [redacted]",
        "warn I have [redacted]",
      ]);
  } finally {
    await runtime.close();
  }
});
