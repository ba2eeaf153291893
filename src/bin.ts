#!/usr/bin/env node
import "./shared/package/require-node.ts";
const args = process.argv.slice(2);
if (args[0] === "serve") {
  const { openEarlyClient } = await import("./surfaces/cli/commands/early-client.ts");
  if (!(await openEarlyClient(args.slice(1)))) {
    const { listenEarly } = await import("./surfaces/cli/commands/early-server.ts");
    await listenEarly(args.slice(1));
  }
}
// Loaded only now: the commands and their libraries take several times as long as the first answers of a server.
const { runCommandLine } = await import("./surfaces/cli/index.ts");
await runCommandLine(args);
