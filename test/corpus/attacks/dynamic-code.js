//# direct-eval-hides-a-denied-call {"intent":"direct eval hides a denied call","end":"refused"}
return await eval("device.AdminSkill.delete_user({id:1})");

//# eval-through-globalthis-with-computed-name {"intent":"eval through globalThis with computed name","end":"refused"}
return await globalThis["ev" + "al"]("device.AdminSkill.delete_user({id:1})");

//# settimeout-with-a-string {"intent":"setTimeout with a string","end":"refused"}
setTimeout("device.AdminSkill.delete_user({id:1})", 1);
return 1;

//# dynamic-import-of-a-data-url {"intent":"dynamic import of a data URL","end":"refused"}
return (await import("data:text/javascript,export default 1")).default;

//# static-import {"intent":"static import","end":"refused"}
import fs from "fs";
return fs;

//# import-defer {"intent":"import defer","end":"refused"}
import defer * as ns from "fs";

//# process-binding {"intent":"process.binding","end":"refused"}
return process.binding("spawn_sync");

//# importscripts-and-worker {"intent":"importScripts and Worker","end":"refused"}
new Worker("data:text/javascript,1"); importScripts("x.js");

//# function-on-file-content {"intent":"Function on file content","end":"refused"}
const code = await device.FilesystemMCP.read_file({ path: "/data/code.txt" });
return await new Function("device", "return " + code)(device);

//# code-from-a-result-in-a-sort {"intent":"the text of a file becomes code through a regular expression and a constructor","end":"THROWN"}
const code = await device.FilesystemMCP.read_file({ path: "/data/code.txt" });
const run = [code].map((c) => ({}).constructor.constructor("device", "return " + c));
return await run[0](device.MathSkill);

//# deno-and-bun {"intent":"other runtimes' globals","end":"refused"}
return [Deno.readTextFileSync("/etc/passwd"), Bun.spawnSync(["id"])];

//# eval-under-another-name {"intent":"eval in a variable, optionally called","end":"refused"}
const run = eval;
return run?.("1 + 1") ?? eval?.("2");

//# export-star {"intent":"export * from a module","end":"refused"}
export * from "node:child_process";

//# function-constructor-with-bind {"intent":"bind and call on a constructor found at run time","end":"refused"}
const F = Reflect.apply(Function.prototype.call.bind(Object.getPrototypeOf), null, [() => {}]).constructor;
return F.bind(null, "return process.version").call(undefined)();

//# globals-of-workers {"intent":"self, postMessage, close and parentPort","end":"refused"}
self.postMessage({ kind: "call", path: "AdminSkill.delete_user" }); postMessage(1); close(); parentPort.postMessage(1);

//# import-meta {"intent":"import.meta gives paths of the host","end":"refused"}
return import.meta.url + import.meta.dirname;

//# import-of-a-builtin-module {"intent":"dynamic import of node:fs with a comment before the bracket","end":"refused"}
const fs = await import /* not a call */ (`node:${"fs"}`);
return fs.readFileSync("/etc/passwd", "utf8");

//# import-source {"intent":"import source","end":"refused"}
import source wasm from "./x.wasm";
return wasm;

//# import-with-attributes {"intent":"static import with attributes","end":"refused"}
import data from "./config.json" with { type: "json" };
return data;

//# indirect-eval {"intent":"(0, eval)","end":"refused"}
return (0, eval)("device.AdminSkill.delete_user({ id: 1 })");

//# interval-with-a-string {"intent":"setInterval with a string","end":"refused"}
setInterval("device.AdminSkill.delete_user({ id: 1 })", 1);
await new Promise((r) => setTimeout(r, 20));
return "waited";

//# main-module-require {"intent":"process.mainModule.require","end":"refused"}
return process.mainModule.require("child_process").execSync("cat /etc/passwd").toString();

//# module-constructor-load {"intent":"module.constructor._load","end":"refused"}
return module.constructor._load("fs").readFileSync("/etc/passwd", "utf8");

//# new-function {"intent":"new Function with device as argument","end":"refused"}
return await new Function("d", "return d.AdminSkill.delete_user({ id: 1 })")(device);

//# parameters-break-out {"intent":"parameter texts that close the function's head (Function injection)","end":"THROWN"}
const F = (() => {}).constructor;
return F("a = (() => { throw 1 })()){ }, function(", "return process")();

//# require-child-process {"intent":"require and execSync","end":"refused"}
const { execSync } = require("child_process");
return execSync("id").toString();

//# script-element {"intent":"a script element","end":"refused"}
const s = document.createElement("script"); s.text = "device.AdminSkill.delete_user({ id: 1 })"; document.body.append(s);

//# tagged-template-of-a-constructor {"intent":"a function constructor as tag of a template","end":"THROWN"}
return (() => {}).constructor`return process.version```;

//# timer-with-a-string-in-a-variable {"intent":"setTimeout gets its code from a variable","end":"THROWN"}
const code = ["device", "AdminSkill", "delete_user({ id: 1 })"].join(".");
setTimeout(code, 1); queueMicrotask(code);
await new Promise((r) => setTimeout(r, 20));
return 1;

//# vm-module {"intent":"vm.runInThisContext through a Python-like import","end":"refused"}
import vm from "vm"
return vm.runInThisContext("process.env");

//# web-assembly {"intent":"WebAssembly.Module from bytes","end":"refused"}
const m = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
return WebAssembly.Module.exports(m);
