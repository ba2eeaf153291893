//# factorial-and-fibonacci {"intent":"factorial and fibonacci","result":[3628800,610],"calls":0}
const fact = n => (n <= 1 ? 1 : n * fact(n - 1));
const fib = n => (n < 2 ? n : fib(n - 1) + fib(n - 2));
return [fact(10), fib(15)];

//# async {"intent":"an async function calls itself","result":[25,16,9,4,1],"calls":5}
async function countdown(n) {
  if (n === 0) return [];
  const v = await device.MathSkill.multiply({ a: n, b: n });
  return [v, ...(await countdown(n - 1))];
}
return await countdown(5);

//# classic-algorithms {"intent":"permutations, hanoi, gcd, quicksort, binary search","result":[["abc","acb","bac","bca","cab","cba"],1023,12,[1,2,3,3],2],"calls":0}
const perms = (s) => s.length < 2 ? [s] : [...s].flatMap((c, i) => perms(s.slice(0, i) + s.slice(i + 1)).map((p) => c + p));
const hanoi = (n) => (n === 0 ? 0 : 2 * hanoi(n - 1) + 1);
const gcd = (a, b) => (b ? gcd(b, a % b) : a);
const qs = ([p, ...r]) => p === undefined ? [] : [...qs(r.filter((x) => x < p)), p, ...qs(r.filter((x) => x >= p))];
const bs = (a, x, l = 0, h = a.length - 1) => { if (l > h) return -1; const m = (l + h) >> 1; return a[m] === x ? m : a[m] < x ? bs(a, x, m + 1, h) : bs(a, x, l, m - 1); };
return [perms("abc"), hanoi(10), gcd(84, 36), qs([3, 1, 2, 3]), bs([1, 3, 5, 7], 5)];

//# five-hundred-deep {"intent":"recursion five hundred frames deep","result":[125250,true],"calls":0}
function total(n) { return n === 0 ? 0 : n + total(n - 1); }
const isEven = (n) => (n === 0 ? true : isOdd(n - 1));
const isOdd = (n) => (n === 0 ? false : isEven(n - 1));
return [total(500), isEven(400)];

//# memoised-fibonacci {"intent":"fibonacci with memo and as BigInt","result":[190392490709135,71],"calls":0}
const memo = {};
const fib = (n) => memo[n] ?? (memo[n] = n < 2 ? n : fib(n - 1) + fib(n - 2));
return [fib(70), Object.keys(memo).length];

//# trees {"intent":"walk a tree, depth and sum","result":[10,3,["1","1/2","1/2/3","1/4"]],"calls":0}
const tree = { v: 1, kids: [{ v: 2, kids: [{ v: 3, kids: [] }] }, { v: 4, kids: [] }] };
const sum = (t) => t.v + t.kids.reduce((s, k) => s + sum(k), 0);
const depth = (t) => 1 + Math.max(0, ...t.kids.map(depth));
const paths = (t, at = "") => [at + t.v, ...t.kids.flatMap((k) => paths(k, at + t.v + "/"))];
return [sum(tree), depth(tree), paths(tree)];
