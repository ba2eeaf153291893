import { expect, test } from "vitest";

import { getStartCommand, type Installation } from "../../../../src/surfaces/cli/connect/start-command.ts";

const INSTALLED: Installation = {
  bin: "/work/shop/node_modules/skillgate/dist/src/bin.js",
  version: "1.2.3",
  execPath: "/opt/node/22.1.0/bin/node",
  path: "relative:/bin:/opt/bin",
  isWindows: false,
  findRealPath: (path) =>
    ({ "/opt/bin/node": "/opt/node/22.1.0/bin/node", "/bin/node": "/usr/lib/node", relative: "/x" })[path] ?? path,
};

const NPX_BIN = "/home/ada/.npm/_npx/5f0c/node_modules/skillgate/dist/src/bin.js";

test.each<[why: string, facts: Partial<Installation>, line: string]>([
  ["the path of Node that survives an update", {}, `/opt/bin/node ${INSTALLED.bin}`],
  ["the running Node if no shell finds it", { path: "/bin" }, `/opt/node/22.1.0/bin/node ${INSTALLED.bin}`],
  ["npx with the version for an installation of npx", { bin: NPX_BIN }, "npx -y skillgate@1.2.3"],
  [
    "a shell for npx on Windows",
    { bin: String.raw`C:\Users\ada\AppData\npm-cache\_npx\5f0c\dist\src\bin.js`, isWindows: true },
    "cmd /c npx -y skillgate@1.2.3",
  ],
])("starts an installation by %s [V1]", (_why, facts, line) => {
  const { command, args } = getStartCommand({ ...INSTALLED, ...facts });
  expect([command, ...args].join(" ")).toBe(line);
});
