//# class-with-private-field-and-static {"intent":"class with private field and static","result":2,"calls":0}
class Counter {
  #n = 0;
  static create() { return new Counter(); }
  inc() { this.#n++; return this; }
  get value() { return this.#n; }
}
return Counter.create().inc().inc().value;

//# accessors-and-static-blocks {"intent":"get, set, static blocks, private static","result":[212,"C",11,[]],"calls":0}
class Temp {
  static #made = 0;
  static unit;
  static { Temp.unit = "C"; this.#made = 10; }
  #c = 0;
  get f() { return this.#c * 9 / 5 + 32; }
  set f(v) { this.#c = (v - 32) * 5 / 9; Temp.#made++; }
  static get made() { return Temp.#made; }
}
const t = new Temp();
t.f = 212;
return [t.f, Temp.unit, Temp.made, Object.keys(t)];

//# async-iterators-and-statics {"intent":"async iterators, static generators and calls in them","result":[1,2,18,7],"calls":3}
class Pages {
  static async *numbers() { yield 1; yield await device.MathSkill.add({ a: 1, b: 1 }); }
  async *[Symbol.asyncIterator]() { for (const city of ["Paris", "Oslo"]) yield (await device.WeatherSkill.get_forecast({ city })).days[0].temp; }
}
const out = [];
for await (const n of Pages.numbers()) out.push(n);
for await (const t of new Pages()) out.push(t);
return out;

//# calls-in-async-methods {"intent":"a class around a skill","result":[18,"Tokyo"],"calls":3}
class Weather {
  #cache = new Map();
  async temp(city) {
    if (!this.#cache.has(city)) {
      const f = await device.WeatherSkill.get_forecast({ city });
      this.#cache.set(city, f.days[0].temp);
    }
    return this.#cache.get(city);
  }
  static async warmer(a, b) { const w = new Weather(); return (await w.temp(a)) > (await w.temp(b)) ? a : b; }
}
const w = new Weather();
await w.temp("Paris"); await w.temp("Paris");
return [await w.temp("Paris"), await Weather.warmer("Oslo", "Tokyo")];

//# inheritance {"intent":"extends, super, overriding, static inheritance","result":["square:9","square:24",2,true,"[object Cube]"],"calls":0}
class Shape { static count = 0; constructor(name) { this.name = name; Shape.count++; } area() { return 0; } toString() { return `${this.name}:${this.area()}`; } }
class Square extends Shape { constructor(s) { super("square"); this.s = s; } area() { return this.s ** 2; } }
class Cube extends Square { area() { return super.area() * 6; } get [Symbol.toStringTag]() { return "Cube"; } }
return [`${new Square(3)}`, String(new Cube(2)), Cube.count, new Cube(1) instanceof Shape, Object.prototype.toString.call(new Cube(1))];

//# iterable-and-primitive {"intent":"Symbol.iterator, Symbol.toPrimitive, valueOf","result":[[1,2,3,4],3,"1..4",1,[2,3,4],4],"calls":0}
class Range {
  constructor(a, b) { this.a = a; this.b = b; }
  *[Symbol.iterator]() { for (let i = this.a; i <= this.b; i++) yield i; }
  [Symbol.toPrimitive](hint) { return hint === "number" ? this.b - this.a : `${this.a}..${this.b}`; }
}
const r = new Range(1, 4);
const [first, ...rest] = r;
return [[...r], +r, `${r}`, first, rest, Math.max(...r)];

//# mixins-and-expressions {"intent":"class expressions, mixins, new.target, fields with arrows","result":["I am n","Inner","Inner","function"],"calls":0}
const Named = (Base) => class extends Base { name = "n"; hello = () => `I am ${this.name}`; };
class Plain { constructor() { this.made = new.target.name; } }
const C = class Inner extends Named(Plain) {};
const c = new C();
const { hello } = c;
return [hello(), c.made, C.name, typeof C];

//# private-methods {"intent":"private methods, #x in object","result":[12,true,false,"bad amount"],"calls":0}
class Account {
  #balance = 0;
  #check(n) { if (n <= 0) throw new RangeError("bad amount"); }
  deposit(n) { this.#check(n); this.#balance += n; return this; }
  static isAccount(o) { return #balance in o; }
  get balance() { return this.#balance; }
}
let error;
try { new Account().deposit(-1); } catch (e) { error = e.message; }
return [new Account().deposit(5).deposit(7).balance, Account.isAccount(new Account()), Account.isAccount({}), error];

//# static-and-private-async {"intent":"async static and private methods of a class","result":3,"calls":1}
class Calc {
  static async run(a, b) {
    return new Calc().#add(a, b);
  }
  async #add(a, b) {
    return await device.MathSkill.add({ a, b });
  }
}
return await Calc.run(1, 2);
