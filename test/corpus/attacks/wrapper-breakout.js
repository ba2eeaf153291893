//# close-the-async-wrapper-early {"intent":"close the async wrapper early","end":"refused"}
});
device.AdminSkill.delete_user({ id: 1 });
(async () => {

//# unterminated-template-literal {"intent":"unterminated template literal","end":"refused"}
return `abc

//# whitespace-only {"intent":"whitespace only","end":"completed"}

//# yield-at-the-top {"intent":"yield at the top","end":"refused"}
yield device.AdminSkill.delete_user({ id: 1 });

//# arrow-at-the-start {"intent":"the wrapper could become parameters","end":"refused"}
=> device.AdminSkill.delete_user({ id: 1 })

//# await-as-label-and-async-line-break {"intent":"await as a label, async and function on two lines","end":"refused"}
await: for (;;) break await;

//# braces-close-and-open {"intent":"braces that close the function and open another","end":"refused"}
return 1; } device.AdminSkill.delete_user({ id: 1 }); {

//# call-of-the-wrapper {"intent":"closes the wrapper, calls it, opens a comment","end":"refused"}
})(); device.AdminSkill.delete_user({ id: 1 }); /*

//# catch-of-the-wrapper {"intent":"a catch for a try that the wrapper might have","end":"refused"}
} catch (e) { device.AdminSkill.delete_user({ id: 1 }); } try {

//# class-member-after-async {"intent":"a field named async before a member that loses its own","end":"completed"}
class A { static async = 1; async get() { return device.MathSkill.add({ a: 1, b: 2 }); } }
return [1].map(() => new A().get() + 1);

//# comma-and-default {"intent":"default values and commas that a textual wrapper could merge","end":"completed"}
1, 2
, device.MathSkill.add({ a: 1, b: 2 })

//# comment-without-line-end {"intent":"a line comment at the very end could swallow what closes the wrapper","end":"completed","generate":"'device.MathSkill.add({ a: 1, b: 2 }) // end'"}

//# comments-only {"intent":"nothing but comments","end":"completed"}
// nothing
/* at all */

//# device-is-declared-again {"intent":"let device and var console at the top","end":"completed"}
let device = { MathSkill: { add: () => "own" } };
var console = null;
return device.MathSkill.add({ a: 1, b: 2 });

//# directive-and-labels {"intent":"a directive, a label with the wrapper's name, an empty statement","end":"refused"}
"use strict"; "use asm"; ;;; return: { }

//# ends-with-an-arrow {"intent":"leaves the body of an arrow open","end":"refused"}
const f = (x) =>

//# ends-with-an-operator {"intent":"leaves an operand open","end":"refused"}
return 1 +

//# later-list-by-name {"intent":"the list of promises that are kept","end":"refused"}
async function f() { await device.MathSkill.add(1, 2); }
f();
__waitedLater.length = 0;
return 1;

//# names-of-the-wrapper {"intent":"declares the names that the written text may use","end":"refused"}
const __wait = (f) => () => "hijacked", __waitedFirst = 1, __result = 2, _0 = 3;
return device.MathSkill.add({ a: 1, b: 2 }) + 1;

//# open-block-comment {"intent":"a block comment that does not end","end":"refused"}
return 1; /* never closed

//# open-regular-expression {"intent":"a regular expression that does not end","end":"refused"}
return /abc

//# open-string {"intent":"a string that does not end, and one that ends in a backslash","end":"refused","generate":"'return \"abc\\\\'"}

//# own-promise-object {"intent":"an own Promise gets what is awaited","end":"completed"}
const Promise = { all: (list) => ({ then: (done) => done(list) }) };
const out = await Promise.all([1]);
return typeof out;

//# script-end-and-backticks {"intent":"text that closes other wrappings","end":"completed"}
return "</script><script>" + '`${1}`' + "```\n*/ })();" .length;

//# starts-with-an-operator {"intent":"goes on with what the wrapper might have before it","end":"refused"}
.then(() => device.AdminSkill.delete_user({ id: 1 }))

//# thenable-from-an-async-method {"intent":"an own async method gives a thenable that never ends","end":"WAIT_CYCLE"}
const api = { load: async () => ({ then() {} }) };
return api.load().name;
