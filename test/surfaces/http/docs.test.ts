import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

import { RUNTIME_SECTION_SCHEMAS } from "../../../src/config/index.ts";
import { RPC_ERRORS } from "../../../src/shared/rpc-errors.ts";
import { SERVER_DEFAULTS } from "../../../src/surfaces/http/index.ts";

const PAGE = readFileSync("docs/serving.md", "utf8");

test("docs/serving.md lists every setting with its default [V6]", () => {
  const [, yaml = ""] = /## Settings\n\n```yaml\n(.*?)```/s.exec(PAGE) ?? [];
  expect(parse(yaml)).toEqual({
    catalogTokens: RUNTIME_SECTION_SCHEMAS.catalogTokens["default"],
    server: SERVER_DEFAULTS,
  });
});

test("docs/serving.md lists every error [V3]", () => {
  const rows = [...PAGE.matchAll(/^\| `(\w+)` +\| +(-[\d ]+?) +\| +(yes)? *\|$/gm)];
  const shown = rows.map(([, kind, code = "", again]) => [kind, Number(code.replaceAll(" ", "")), again === "yes"]);
  expect(shown).toEqual(Object.entries(RPC_ERRORS).map(([kind, { code, retryable }]) => [kind, code, retryable]));
});
