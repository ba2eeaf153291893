//# type-annotations-on-variables {"intent":"type annotations on variables","result":[5,2,null],"calls":0}
const a: number = 5;
const names: string[] = ["x", "y"];
let u: { id: number; name?: string } | null = null;
return [a, names.length, u];

//# class-with-typed-fields-and-access-modifiers {"intent":"class with typed fields and access modifiers","result":5,"calls":0}
class Acc {
  private total: number = 0;
  public add(n: number): this { this.total += n; return this; }
  get value(): number { return this.total; }
}
return new Acc().add(2).add(3).value;

//# annotated-variables-of-calls {"intent":"annotated variables, without await","result":{"name":"Ada","total":6,"titles":["Standup","Design review","1:1"]},"calls":4}
const name: string = device.UserSkill.get({ id: 1 }).name;
let total: number = 0;
for (const n of [1, 2] as number[]) total += device.MathSkill.add({ a: n, b: n }) as number;
const events: Array<{ title: string }> = device.CalendarMCP.list_events({ date: "2026-03-01" });
return { name, total, titles: events.map((e): string => e.title) };

//# as-const-and-satisfies {"intent":"as const, satisfies, non-null, double as","result":10,"calls":2}
const cities = ["Paris", "Oslo"] as const;
type City = (typeof cities)[number];
const limits = { Paris: 20, Oslo: 10 } satisfies Record<City, number>;
const forecasts = await Promise.all(cities.map((city: City) => device.WeatherSkill.get_forecast({ city })));
const over = forecasts.filter((f: any) => f.days[0]!.temp > limits[f.city as City]);
return (over as unknown as { city: string }[]).length + <number>limits.Oslo;

//# cast-of-device {"intent":"a cast around device","result":4,"calls":2}
const r = await (device as any).MathSkill.add({ a: 1, b: 2 });
const s = await device.MathSkill!.add!({ a: r as number, b: 1 });
return s;

//# classes {"intent":"abstract classes, implements, parameter properties, index signatures","result":["Rex: woof",["Rex"],["legs","name","sound"]],"calls":0}
interface Named { name: string }
abstract class Animal<T> implements Named {
  static readonly kinds: string[] = [];
  protected legs?: number;
  declare ghost: string;
  [extra: string]: unknown;
  constructor(public readonly name: string, private sound: T) { Animal.kinds.push(name); }
  abstract cry(): string;
  protected get noise(): T { return this.sound; }
}
class Dog extends Animal<string> {
  override cry(): string { return `${this.name}: ${this.noise}`; }
}
const d = new Dog("Rex", "woof");
return [d.cry(), Animal.kinds, Object.keys(d)];

//# comparison-that-looks-generic {"intent":"comparisons that could be type arguments","result":[true,[1,1],true,true],"calls":0}
const a = 1, b = 2, c = 3;
const x: boolean = a < b;
const list: number[] = [a < b ? 1 : 0, c > b ? 1 : 0];
return [x, list, a < c, (a < b) === (c > b)];

//# declare-and-typeof {"intent":"declare, typeof types, unique symbols, any casts of device","result":22,"calls":1}
declare const device: any;
declare function print(...args: unknown[]): void;
type Forecast = Awaited<ReturnType<typeof load>>;
const load = async (city: string) => await device.WeatherSkill.get_forecast({ city });
const f: Forecast = await load("Tokyo");
return f.days[0].temp as number;

//# generic-helper-with-satisfies {"intent":"generics, satisfies and non-null in one helper","result":3,"calls":1}
interface Pair<T> { readonly a: T; readonly b: T }
async function apply<T extends number>(pair: Pair<T>): Promise<number> {
  return (await device.MathSkill.add(pair as Pair<number>))!;
}
const input = { a: 1, b: 2 } satisfies Pair<number>;
await apply(input)

//# generics {"intent":"generic functions, constraints, defaults, arrows","result":[[1,2],7,1,[3]],"calls":0}
function pluck<T, K extends keyof T>(list: T[], key: K): T[K][] { return list.map((x) => x[key]); }
const first = <T,>(list: readonly T[]): T | undefined => list[0];
const id = <T extends unknown = string>(x: T): T => x;
const m = new Map<string, number[]>([["a", [1]]]);
const set = new Set<number>();
set.add(id<number>(3));
return [pluck([{ n: 1 }, { n: 2 }], "n"), first<number>([7, 8]), m.get("a")!.length, [...set]];

//# interfaces-and-aliases {"intent":"interfaces, type aliases, optional and readonly members","result":["Ada","no user 50"],"calls":2}
interface User { readonly id: number; name: string; email?: string; [key: string]: unknown }
type Id = User["id"];
type Result<T> = { ok: true; value: T } | { ok: false; error: string };
const load = async (id: Id): Promise<Result<User>> => {
  const user = (await device.UserSkill.get({ id })) as User | null;
  return user ? { ok: true, value: user } : { ok: false, error: `no user ${id}` };
};
const a = await load(1), b = await load(50);
return [a.ok && a.value.name, !b.ok && b.error];

//# overloads-and-optional-parameters {"intent":"overloads, optional and rest parameters, this types","result":[9,10,"1-b","hi Ada"],"calls":0}
function area(r: number): number;
function area(w: number, h: number): number;
function area(w: number, h?: number): number { return h === undefined ? w * w : w * h; }
const join = (sep: string, ...rest: (string | number)[]): string => rest.join(sep);
function who(this: { name: string }, greeting = "hi" as string): string { return `${greeting} ${this.name}`; }
return [area(3), area(2, 5), join("-", 1, "b"), who.call({ name: "Ada" })];

//# tuples-and-destructuring {"intent":"tuples, annotated patterns, annotated catch","result":["a",1,"Oslo",2,8,true],"calls":1}
const pair: [string, number] = ["a", 1];
const [label, n]: [string, number] = pair;
const { city, days }: { city: string; days: { temp: number }[] } = await device.WeatherSkill.get_forecast({ city: "Oslo", days: 2 });
const f = ({ a, b = 2 }: { a: number; b?: number }, [x]: number[] = [5]): number => a + b + x;
try { null!.x; } catch (e: unknown) { return [label, n, city, days.length, f({ a: 1 }), e instanceof TypeError]; }

//# type-guards-and-mapped-types {"intent":"type predicates, mapped and conditional types, template types","result":["Linus","on:click",1],"calls":1}
type Flags<T> = { [K in keyof T as `is${Capitalize<string & K>}`]?: T[K] extends boolean ? true : never };
type Event = `${"on" | "off"}:${string}`;
function isUser(x: unknown): x is { name: string } { return typeof x === "object" && x !== null && "name" in x; }
function assertOk(x: unknown): asserts x is true { if (!x) throw new Error("not ok"); }
const flags: Flags<{ beta: boolean }> = { isBeta: true };
const e: Event = "on:click";
assertOk(flags.isBeta);
const u: unknown = await device.UserSkill.get({ id: 2 });
return [isUser(u) ? u.name : "none", e, keyCount({ a: 1 })];
function keyCount<T extends object>(o: T): number { return Object.keys(o).length; }

//# union-types-over-lines {"intent":"types over several lines, functions types, optional calls","result":[3,"X"],"calls":2}
type Job =
  | { kind: "add"; a: number; b: number }
  | { kind: "shout"; text: string };
const run: (job: Job) => Promise<number | string> = async (job) => {
  switch (job.kind) {
    case "add":
      return await device.MathSkill.add({ a: job.a, b: job.b });
    case "shout":
      return await device.TextSkill.uppercase({ text: job.text });
  }
};
const jobs: Job[] = [
  { kind: "add", a: 1, b: 2 },
  { kind: "shout", text: "x" },
];
return await Promise.all(jobs.map((job: Job): Promise<number | string> => run(job)));
