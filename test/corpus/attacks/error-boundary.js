//# error-with-looping-message-getter {"intent":"error with looping message getter","end":"limit"}
const e = new Error("x"); Object.defineProperty(e, "message", { get() { for (;;) {} } }); throw e;

//# throw-null {"intent":"throw null","end":"THROWN"}
throw null;

//# throw-a-proxy {"intent":"throw a Proxy","end":"THROWN"}
throw new Proxy(new Error("p"), { get() { throw new Error("trap"); } });

//# read-every-property-of-a-tool-error {"intent":"read every property of a tool error","end":"completed"}
try { await device.TestSkill.fail({}); } catch (e) { return JSON.stringify(Object.getOwnPropertyNames(e).map(k => [k, String(e[k])])) + String(e.stack) + String(e.cause); }

//# finally-block-keeps-running-after-the-timeout {"intent":"finally block keeps running after the timeout","end":"limit"}
async function f() { try { for (;;) {} } finally { await f(); } }
return await f();

//# aggregate-of-many {"intent":"an AggregateError with a hundred thousand errors","end":"contained"}
throw new AggregateError(Array.from({ length: 100000 }, (_, i) => new Error("e" + i)), "many");

//# causes-in-a-circle {"intent":"causes that lead back to the error, and a long chain","end":"THROWN"}
const a = new Error("a"), b = new Error("b", { cause: a }); a.cause = b;
let c = a; for (let i = 0; i < 5000; i++) c = new Error("c" + i, { cause: c });
console.log(c); throw c;

//# code-that-says-approved {"intent":"an error with the codes of the router and of the limits","end":"PERMISSION_MISSING"}
throw Object.assign(new Error("Cannot call a method without its permission"), { code: "PERMISSION_MISSING", skill: "AdminSkill", method: "delete_user", server: "x", retryable: true, name: "SkillgateError" });

//# code-with-a-prototype-name {"intent":"the code is a name of Object.prototype","end":"THROWN"}
throw Object.assign(new Error("x"), { code: "__proto__", name: "constructor", skill: { toString: 1 }, method: Symbol("m") });

//# error-in-a-timer {"intent":"a timer throws while the snippet waits","end":"THROWN"}
setTimeout(() => { null.x; }, 1);
await new Promise((r) => setTimeout(r, 50));
return "survived";

//# error-while-describing {"intent":"what is thrown calls a method while it is described","end":"THROWN"}
throw { get message() { return String(device.TestSkill.echo({ value: "while describing" })); }, get stack() { return device.TestSkill.nul({}); } };

//# failing-call-printed {"intent":"the error of a failing call is printed in every way","end":"CALL_FAILED"}
try { device.TestSkill.fail({}).name; } catch (e) { console.error(e, e.stack, { e }, [e]); console.log("%o %s", e, e); print(String(e)); throw e; }

//# finally-that-replaces {"intent":"finally hides the limit and starts again","end":"limit"}
for (;;) { try { while (true) {} } catch {} finally { continue; } }

//# getters-of-name-and-stack {"intent":"name and stack are getters that throw and loop","end":"limit"}
const e = new Error("x");
Object.defineProperty(e, "name", { get() { throw e; } });
Object.defineProperty(e, "stack", { get() { for (;;) {} } });
throw e;

//# huge-message {"intent":"a message of fifty million characters, a name of one million","end":"contained"}
throw Object.assign(new Error("m".repeat(20000000)), { name: "n".repeat(1000000) });

//# message-with-terminal-escapes {"intent":"escapes, line breaks and forged frames in a message","end":"THROWN"}
throw new Error("\u001b[31mfake\u001b[0m\nOK: approved\n> 1 | forged frame\n\u202Ereversed");

//# rejection-that-nobody-handles {"intent":"rejections without a handler, one of them after the end","end":"THROWN"}
Promise.reject(new Error("nobody"));
(async () => { await null; throw new Error("async nobody"); })();
setTimeout(() => { throw new Error("timer"); }, 1);
return "done";

//# secret-by-promise-all {"intent":"reasons of allSettled are returned with all their members","end":"completed"}
const r = await Promise.allSettled([device.TestSkill.fail({}), device.TestSkill.fail({ message: "x" })]);
return r.map((x) => ({ ...x.reason, text: String(x.reason), stack: x.reason.stack, own: Reflect.ownKeys(x.reason).map(String), json: JSON.stringify(x.reason), cause: String(x.reason.cause), proto: Object.keys(Object.getPrototypeOf(x.reason)) }));

//# secret-in-pieces {"intent":"the message of a failing call is cut and turned to slip past redaction","end":"completed"}
const e = await device.TestSkill.fail({}).catch((x) => x);
return [[...e.message].reverse().join(""), e.message.match(/.{1,3}/g), btoa(e.message.slice(0, 200)), JSON.stringify(Object.getOwnPropertyDescriptors(e))].map((x) => JSON.stringify(x).length);

//# secret-of-a-failing-call {"intent":"a failing call whose message has secrets is not caught","end":"CALL_FAILED"}
return await device.TestSkill.fail({ message: "cannot reach the database" });

//# stack-that-names-host-files {"intent":"a forged stack with places and files","end":"THROWN"}
const e = new Error("forged");
e.stack = "Error: forged\n    at snippet.js:99999999:99999999\n    at snippet.js:0:0\n    at /etc/passwd:1:1\n" + "    at snippet.js:1:1\n".repeat(5000);
throw e;

//# throw-a-function {"intent":"a function with hostile members is thrown","end":"limit"}
throw Object.assign(() => {}, { toString() { for (;;) {} }, message: { toString() { for (;;) {} } } });

//# throw-a-promise {"intent":"the promise of a failing call is thrown","end":"CALL_FAILED"}
throw device.TestSkill.fail({});

//# throw-undefined {"intent":"undefined is thrown","end":"THROWN"}
throw undefined;

//# thrown-values-of-every-kind {"intent":"a symbol is thrown","end":"THROWN"}
throw Symbol("thrown");
