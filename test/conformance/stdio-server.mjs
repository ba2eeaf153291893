// Serves the fixture skills to one client over stdin and stdout.

import { OWNER } from "../../dist/src/model/caller.js";
import { createMcpSurface } from "../../dist/src/surfaces/mcp/index.js";
import { fixtureRuntime } from "./fixtures.mjs";

const runtime = await fixtureRuntime();
const surface = createMcpSurface(runtime, { bodyBytes: 4 << 20, sessions: { most: 1, idleMs: 60_000 } });
const exposure = { expose: "tools", names: "raw", budgetTokens: 0 };
await surface.serveStreams(process.stdin, process.stdout, { caller: OWNER, exposure }).closed;
await surface.close();
await runtime.close();
