//# html-open-comment-hides-the-end-of-line-in-script {"intent":"HTML open comment hides the end of line in script grammar","end":"refused"}
let x = 1, y = 5;
x <!--y
return x;

//# with-statement-to-shadow-names {"intent":"with statement to shadow names","end":"refused"}
with ({ MathSkill: 1 }) { return MathSkill; }

//# delete-of-an-identifier {"intent":"delete of an identifier","end":"refused"}
var z = 1; delete z; return 1;

//# duplicate-parameter-names {"intent":"duplicate parameter names","end":"refused"}
function f(a, a) { return a; } return f(1, 2);

//# decorators {"intent":"decorators","end":"refused"}
@dec class A {}
return 1;

//# numeric-literal-member-access-0x1-a-differs {"intent":"numeric literal member access (0x1.a differs)","end":"refused"}
return typeof 0x1.a;

//# nul-byte-inside-a-comment-then-more-code {"intent":"NUL byte inside a comment then more code","end":"refused","generate":"\"return 1; //\\u0000\\ndevice.AdminSkill.delete_user({ id: 1 });\""}

//# byte-order-mark-in-the-middle-of-tokens {"intent":"byte order mark in the middle of tokens","end":"refused","generate":"\"return\\ufeff1;\""}

//# lone-surrogate-inside-a-string {"intent":"lone surrogate inside a string","end":"refused","generate":"\"return \\\"\\ud800x\\\".length;\""}

//# v8-native-syntax {"intent":"v8 native syntax","end":"refused"}
return %DebugPrint(1);

//# accessor-keyword {"intent":"accessor fields","end":"refused"}
class A { accessor x = 1; }
return new A().x;

//# arguments-and-eval-are-assigned {"intent":"eval and arguments as targets","end":"refused"}
eval = 1; arguments = 2; arguments[0]++;

//# await-in-parameters {"intent":"await in the default of an async parameter","end":"refused"}
async function f(x = await device.AdminSkill.delete_user({ id: 1 })) { return x; }
return await f();

//# carriage-return-ends-a-comment {"intent":"a lone carriage return ends a line comment","end":"refused","generate":"'// comment \\r device.AdminSkill.delete_user({ id: 1 });\\nreturn 1;'"}

//# class-field-named-constructor {"intent":"fields named constructor and static prototype","end":"refused"}
class A { constructor = 1; static prototype = 2; }
return 1;

//# direction-marks-hide-code {"intent":"bidirectional marks show a comment where code is (Trojan Source)","end":"refused","generate":"'/* \\u202e } \\u2066if (false)\\u2069 \\u2066 */ device.AdminSkill.delete_user({ id: 1 }); /* \\u2069 */ return 1;'"}

//# division-that-opens-a-string {"intent":"what is a division in one reading hides a call in the other","end":"completed"}
let a = 4, g = 2, i = 1;
const x = a++ / g / i; const y = `${a}`/g; const z = {} / 1 / "/.test(device)";
return [x, y];

//# duplicate-named-groups {"intent":"one group name in two branches","end":"completed"}
return "2026-03".match(/(?<y>\d{4})-\d\d|\d\d-(?<y>\d{4})/).groups.y;

//# escaped-await {"intent":"an escaped await","end":"refused"}
return aw\u0061it device.MathSkill.add({ a: 1, b: 2 });

//# escaped-keywords {"intent":"unicode escapes in keywords","end":"refused"}
v\u0061r x = 1; r\u0065turn x;

//# for-of-async-and-let {"intent":"for (async of …) and for (let of of …)","end":"refused"}
for (async of [1]) ; for (let of of [1]) ; return 1;

//# function-and-lexical-clash-in-a-block {"intent":"two functions of one name in a block, a catch variable declared again","end":"refused"}
{ function a() { return 1; } function a() { return 2; } }
try { throw 1; } catch (e) { var e = 2; }
return typeof e;

//# function-in-a-labelled-statement {"intent":"functions as bodies of labels and ifs","end":"refused"}
foo: function g() {}
if (1) function h() {}
return typeof g;

//# hashbang-in-the-middle {"intent":"#! in the second line","end":"refused"}
const a = 1;
#!/usr/bin/env node
return a;

//# html-close-comment {"intent":"--> at the start of a line is a comment in scripts","end":"refused"}
let n = 1;
--> n = 2; device.AdminSkill.delete_user({ id: 1 });
return n;

//# let-declared-twice {"intent":"one name declared by let and by a function","end":"refused"}
let f = 1;
function f() {}
return f;

//# line-separator-ends-a-comment {"intent":"U+2028 ends a line comment","end":"refused","generate":"'// harmless \\u2028 device.AdminSkill.delete_user({ id: 1 });\\nreturn 1;'"}

//# line-separator-in-a-string {"intent":"U+2028 and U+2029 inside of a string","end":"refused","generate":"'return \"a\\u2028b\\u2029c\".length;'"}

//# mixed-nullish {"intent":"?? mixed with || without brackets","end":"refused"}
return null ?? 1 || 2;

//# new-with-optional-chain {"intent":"new a?.b() and a?.b = 1","end":"refused"}
const a = {}; new a?.b(); a?.b = 1;

//# numbers-that-run-into-names {"intent":"3in [] and 1__0","end":"refused"}
return 3in [] || 1__0 || 01n;

//# octal-numbers-and-escapes {"intent":"old octal numbers and escapes","end":"refused"}
return [010, "\07", 08.5];

//# private-names-outside {"intent":"#x outside of a class, deleted, declared twice","end":"refused"}
class A { #a; #a; m() { delete this.#a; } }
return ({}).#b;

//# proto-twice {"intent":"__proto__ twice in an object, strict with a pattern parameter","end":"refused"}
function f({ a }) { "use strict"; return a; }
return { __proto__: null, "__proto__": 1 };

//# regex-flags-that-do-not-fit {"intent":"unknown and doubled flags","end":"refused"}
return [/a/gg, /a/x, /a/uv];

//# regex-modifiers {"intent":"modifiers inside of a regular expression","end":"completed"}
return /(?i:a)b/.test("Ab");

//# regex-that-only-one-parser-takes {"intent":"set operations, properties of strings, lone brackets","end":"completed"}
const out = [];
for (const s of ["[[a-z]--[aeiou]]", "\\p{RGI_Emoji}", "[]]", "a{,5}", "(?<a>.)\\k<b>", "\\u{110000}", "\\c"]) for (const f of ["", "u", "v"]) { try { out.push(new RegExp(s, f).test("x")); } catch (e) { out.push(e.name); } }
return out.length;

//# return-and-line-break {"intent":"a value after return and a line break","end":"completed"}
function f() { return
  device.MathSkill.add({ a: 1, b: 2 }) }
return f() === undefined;

//# super-and-new-target-outside {"intent":"super and new.target where there is nothing to refer to","end":"refused"}
return [super.x, new.target];

//# surrogates-in-names {"intent":"escaped code points in names","end":"refused"}
const \u{64}evice2 = 1, 𝒳 = 2, \uD835\uDCB3 = 3;
return 1;

//# tag-characters-in-a-string {"intent":"invisible tag characters carry orders in a string","end":"completed","generate":"'return \"hi\\u{E0069}\\u{E0067}\\u{E006E}\\u{E006F}\\u{E0072}\\u{E0065}\".length;'"}

//# template-inside-comment-inside-template {"intent":"nested templates and comments","end":"completed"}
return `${/* `${ */ `${"}"}` /* }` */}`;

//# unary-before-power {"intent":"-2 ** 2","end":"refused"}
return -2 ** 2;

//# using-declaration {"intent":"using and await using","end":"refused"}
{ using r = { [Symbol.dispose]() {} }; await using s = { [Symbol.asyncDispose]() {} }; }
return 1;

//# words-that-are-names-in-sloppy-code {"intent":"yield, let, static and interface as names","end":"refused"}
var let_ = 1, yield = 2, static = 3;
return yield + static;

//# zero-width-space-between-names {"intent":"a zero width space inside of a name","end":"refused","generate":"'return await dev\\u200Bice.AdminSkill.delete_user({ id: 1 });'"}
