//# math-functions {"intent":"math functions","result":[5,3,-2,0.3,true,42,3.14,5],"calls":0}
return [Math.max(1, 5, 3), Math.round(2.5), Math.trunc(-2.7), +(0.1 + 0.2).toFixed(2), Number.isInteger(5), parseInt("42px", 10), parseFloat("3.14abc"), Math.hypot(3, 4)];

//# big-integers {"intent":"BigInt arithmetic","result":["15511210043330985984000000","18446744073709551615",3,"bigint",true,true,"1"],"calls":0}
const f = (n) => (n <= 1n ? 1n : n * f(n - 1n));
return [f(25n).toString(), (2n ** 64n - 1n).toString(), Number(7n / 2n), typeof 1n, BigInt("123") === 123n, 5n > 4, BigInt.asUintN(8, 257n).toString()];

//# bits {"intent":"bit operations","result":[1,7,6,-6,16,-4,15,31,-559038737],"calls":0}
return [5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, -16 >> 2, -1 >>> 28, Math.clz32(1), 0xdeadbeef | 0];

//# currency-by-hand {"intent":"money and percentages formatted by hand","result":["$1,234,567.89","$0.50","12.3%","13","1e-7",8,255],"calls":0}
const money = (n) => "$" + n.toFixed(2).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const percent = (x) => `${(x * 100).toFixed(1)}%`;
return [money(1234567.891), money(0.5), percent(0.1234), (12.5).toFixed(0), (1e-7).toString(), parseInt("08"), parseInt("ff", 16)];

//# formatting {"intent":"toFixed, toPrecision, radix, separators","result":["1234.57","0.00012","ff","00000101",1000000,255,5,15,"1e+21","p",31,0,12],"calls":0}
return [(1234.5678).toFixed(2), (0.000123).toPrecision(2), (255).toString(16), (5).toString(2).padStart(8, "0"), 1_000_000, 0xff, 0b101, 0o17, 1e21.toString(), (25).toString(36), Number("0x1f"), Number(""), +" 12 "];

//# math-taken-apart {"intent":"members of builtins by destructuring, brackets and call","result":[2,1,"3.14","[1]",["a"],[["b",2]],3,[2,3],true,9],"calls":0}
const { max, min, PI } = Math;
const { stringify, parse } = JSON, { keys, entries } = Object;
return [max(1, 2), min(1, 2), PI.toFixed(2), stringify(parse("[1]")), keys({ a: 1 }), entries({ b: 2 }), Math["abs"](-3), Array.prototype.slice.call([1, 2, 3], 1), Object.prototype.hasOwnProperty.call({ a: 1 }, "a"), Math.max.apply(null, [4, 9])];

//# rounding-and-limits {"intent":"rounding, limits, safe integers","result":[100.5,-2,-1,-1,3,3,9007199254740991,false,false,true,1,-1,0.5,2],"calls":0}
const round = (x, d) => Math.round(x * 10 ** d) / 10 ** d;
return [round(1.005 * 100, 1), Math.floor(-1.5), Math.ceil(-1.5), Math.sign(-3), Math.cbrt(27), Math.log2(8), Number.MAX_SAFE_INTEGER, Number.isSafeInteger(2 ** 53), 0.1 + 0.2 === 0.3, Math.abs(0.1 + 0.2 - 0.3) < Number.EPSILON, 7 % 3, -7 % 3, 2 ** -1, 5 / 2 | 0];

//# statistics {"intent":"mean, median and deviation","result":{"mean":45.167,"median":25.5,"sd":39.286},"calls":1}
const orders = await device.DatabaseMCP.query({ sql: "select total from orders" });
const xs = orders.map((o) => o.total).sort((a, b) => a - b);
const mean = xs.reduce((a, b) => a + b, 0) / xs.length;
const median = xs[Math.floor(xs.length / 2)];
const sd = Math.sqrt(xs.reduce((s, x) => s + (x - mean) ** 2, 0) / xs.length);
return { mean: +mean.toFixed(3), median, sd: +sd.toFixed(3) };
