import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";

import { createRuntime, defineSkill } from "../../src/index.ts";

const ASKING = defineSkill({
  name: "AskingSkill",
  description: "Asks a person",
  methods: { ask: { description: "Ask first", approval: "user", input: z.object({}), run: () => 1 } },
});

test("tells programs no place of a store that fails [S13]", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skillgate-place-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const settings = join(folder, "settings.yaml");
  writeFileSync(settings, "store: { url: 'postgres://someone@127.0.0.1:1/somewhere' }\n");
  const runtime = await createRuntime({ skillsDir: false, skills: [ASKING], settings });
  onTestFinished(() => runtime.close());

  const own = await runtime.run('await device.store.get("a")');
  const asked = await runtime.run("await device.AskingSkill.ask({})");
  const [called] = await runtime.callAll([{ path: "AskingSkill.ask" }]);
  for (const answer of [own, asked, called]) {
    expect(JSON.stringify(answer)).toMatch(
      /Cannot use the store \(STORE_UNAVAILABLE\)|store of approvals cannot be used/,
    );
    expect(JSON.stringify(answer)).not.toMatch(/someone|somewhere/);
  }
  expect(runtime.storeFailure?.message).toContain("someone@127.0.0.1:1/somewhere");
});
