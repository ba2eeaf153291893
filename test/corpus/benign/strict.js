//# use-strict-directive {"intent":"use strict directive","result":10,"calls":0}
"use strict";
const x = 5;
return x * 2;

//# function-directives {"intent":"use strict in functions","result":[true,"undefined"],"calls":0}
function f() { "use strict"; return this === undefined; }
'use strict';
return [f(), (function () { return typeof this; })()];

//# new-of-a-member-of-what-is-new {"intent":"new new, which needs no brackets in JavaScript","result":[true,6,4,true,"t","made",5],"calls":0}
class Box {
  constructor(x = 3) { this.Box = Box; this.x = x; }
  tag() { return function () { this.t = "t"; }; }
}
class Maker { constructor() { return function () { this.what = "made"; }; } }
const a = new new Box().Box() instanceof Box;
const b = ++new new Box().Box(5).x;
const c = new new new Box().Box().Box(4).x;
const d = new new Box()["Box"]() instanceof Box;
const e = new new Box().tag`x`().t;
const f = new new Maker()().what;
const g = new new Box().Box(5)?.x;
return [a, b, c, d, e, f, g];

//# sloppy-habits-that-are-fine {"intent":"var twice, function after use, unused labels","result":[4,"b"],"calls":0}
var x = 1; var x = 2;
const r = later();
function later() { return x * 2; }
unused: for (;;) break unused;
if (x) { function inBlock() { return "b"; } var t = inBlock(); }
return [r, t];
