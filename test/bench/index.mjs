// `npm run bench`: figures side by side in one run. Peers are shown when test/bench/install-peers.mjs has installed them.

import {
  benchCalls,
  benchEventLoop,
  benchKill,
  benchOneCall,
  benchRestore,
  benchThroughput,
  benchWaiting,
} from "./sandbox.mjs";

console.log(`Node ${process.version}, ${(await import("node:os")).availableParallelism()} cores`);
await benchOneCall();
await benchRestore();
await benchCalls();
await benchThroughput();
await benchWaiting();
await benchKill();
await benchEventLoop();
