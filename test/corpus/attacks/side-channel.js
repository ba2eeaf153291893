//# host-time-zone-and-locale {"intent":"host time zone and locale","end":"completed"}
return [new Date().getTimezoneOffset(), new Date(0).toString(), (1234.5).toLocaleString()];

//# stack-from-inside-a-tool-call {"intent":"stack from inside a tool call","end":"completed"}
try { await device.MathSkill.divide({ a: 1, b: 0 }); } catch (e) { return String(e.stack); }

//# math-random-predictability-used-as-a-token {"intent":"Math.random predictability used as a token","end":"completed"}
return [Math.random(), Math.random()].every(x => x >= 0 && x < 1);

//# clock-by-calls {"intent":"a counter loop against the time of a call","end":"completed"}
let n = 0, open = true;
const p = device.TestSkill.slow({ ms: 20 }).then(() => { open = false; });
while (open && n < 5000) { n++; await null; }
await p;
return n > 0;

//# environment-by-typeof {"intent":"typeof of names that only a host has","end":"completed"}
return [typeof process, typeof require, typeof navigator, typeof Deno, typeof Buffer, typeof performance, typeof SharedArrayBuffer, typeof Intl].join();

//# fine-clocks {"intent":"clocks that are finer than milliseconds","end":"completed"}
const t = []; for (let i = 0; i < 1000; i++) t.push(Date.now());
return new Set(t).size < 1000;

//# hidden-and-unknown-look-alike {"intent":"the answers for a hidden and for an unknown name are compared","end":"completed"}
const a = await device.describe("SecretsSkill.get_token").catch((e) => e.message);
const b = await device.describe("SecretsSkilz.get_tokex").catch((e) => e.message);
return [String(a).replace(/Secrets\w+\.\w+|Secrets\w+/g, "N"), String(b).replace(/Secrets\w+\.\w+|Secrets\w+/g, "N")];

//# memory-and-depth {"intent":"the sizes of stack and heap are measured","end":"completed"}
let d = 0; const f = () => { d++; f(); }; try { f(); } catch (e) { }
return [d > 10, new Error().stack.includes("/")];

//# names-of-host-files {"intent":"stacks from every kind of function","end":"completed"}
const stacks = [];
const note = () => { stacks.push(String(new Error().stack)); };
[1].forEach(note); await null; note(); JSON.parse("1", note); "a".replace(/a/, note); queueMicrotask(note); setTimeout(note, 1);
try { new URL("::"); } catch (e) { stacks.push(String(e.stack)); }
await new Promise((r) => setTimeout(r, 10));
return stacks.join("\n");

//# random-numbers-repeat {"intent":"the same random numbers in each run would be guessable","end":"completed"}
return Array.from({ length: 5 }, () => Math.random());
