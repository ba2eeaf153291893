type Kind = "number" | "object" | "list";

/** What a name of the program stands for. */
type Name = { readonly name: string } & (
  | { readonly is: Kind; readonly canChange: boolean }
  | { readonly is: "function"; readonly gives: Kind; readonly form: "plain" | "method" | "class" }
);

/** Calls deeper inside of others than this are written as plain numbers. */
const MAX_DEPTH = 6;

/**
 * Writes a program as a model does who takes `device.EchoSkill.echo` for a function like any other: without a single `await`,
 * or with one here and there. Each choice takes a number; when there are none left, the simplest is taken, so the program ends.
 */
export function writeProgram(choices: readonly number[], awaits: "never" | "sometimes"): string {
  return new Writer(choices, awaits).program();
}

class Writer {
  readonly #choices: readonly number[];
  #taken = 0;
  #names: Name[] = [];
  #count = 0;
  #depth = 0;

  readonly #awaits: "never" | "sometimes";
  /** Whether `await` may stand here. */
  #mayAwait = true;

  constructor(choices: readonly number[], awaits: "never" | "sometimes") {
    this.#awaits = awaits;
    this.#choices = choices;
  }

  program(): string {
    const lines: string[] = [];
    while (this.#taken < this.#choices.length && lines.length < 9) lines.push(this.#statement());
    const told = this.#names.filter(({ is }) => is !== "function").map(({ name }) => name);
    return [...lines, `return [${[this.#value("number"), ...told].join(", ")}]`].join("\n");
  }

  #next(): number {
    return this.#choices[this.#taken++] ?? 0;
  }

  #pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.#next() % choices.length] as Choice;
  }

  /** One of the ways to write something; deep inside, the first. */
  #write(ways: readonly (() => string)[]): string {
    if (this.#depth >= MAX_DEPTH) return ways[0]?.() ?? "";
    this.#depth++;
    const text = this.#pick(ways)();
    this.#depth--;
    return text;
  }

  #fresh(name: string): string {
    return `${name}${++this.#count}`;
  }

  /** Names that are declared inside are gone afterwards. */
  #inside<Result>(names: readonly Name[], write: () => Result): Result {
    const outer = this.#names;
    this.#names = [...outer, ...names];
    const result = write();
    this.#names = outer;
    return result;
  }

  #value(kind: Kind): string {
    const known = this.#names.filter((name) => (name.is === "function" ? name.gives : name.is) === kind);
    const { number, object, list } = this.#ways();
    const ways = { number, object, list }[kind];
    return this.#write(
      known.length === 0 ? ways : [...ways, ...Array<() => string>(6).fill(() => this.#use(this.#pick(known)))],
    );
  }

  #use(name: Name): string {
    if (name.is !== "function") return name.name;
    const argument = this.#value("number");
    if (name.form === "class") return this.#awaited(`new ${name.name}(${argument}).run(${argument})`);
    return this.#awaited(name.form === "method" ? `${name.name}.run(${argument})` : `${name.name}(${argument})`);
  }

  #call(argument: string): string {
    return this.#awaited(`device.EchoSkill.echo(${this.#pick([argument, `{ value: ${argument} }`])})`);
  }

  #awaited(call: string): string {
    if (this.#awaits === "never" || !this.#mayAwait) return call;
    return this.#pick([call, `(await ${call})`]);
  }

  /** What is written inside of a function. */
  #inFunction(isAsync: boolean, parameter: string, write: () => string): string {
    const outer = this.#mayAwait;
    this.#mayAwait = isAsync;
    const text = this.#inside([{ name: parameter, is: "number", canChange: false }], write);
    this.#mayAwait = outer;
    return text;
  }

  /** An arrow from a number; at times it goes by blocks, or is async. */
  #arrow(gives: Kind): string {
    const parameter = this.#fresh("x");
    const form = this.#pick(["", "", "async "]);
    return this.#inFunction(form !== "", parameter, () => {
      const head = `${form}(${parameter}) =>`;
      const body = (): string => (gives === "object" ? `(${this.#value(gives)})` : this.#value(gives));
      return this.#write([
        () => `${head} ${body()}`,
        () => `${head} { ${this.#statement()} return ${this.#value(gives)}; }`,
      ]);
    });
  }

  #body(isAsync: string, parameter: string, gives: Kind): string {
    return this.#inFunction(isAsync !== "", parameter, () => `${this.#statement()} return ${this.#value(gives)};`);
  }

  #number(): string {
    return this.#value("number");
  }

  #ways(): Readonly<Record<Kind, readonly (() => string)[]>> {
    const number = (): string => this.#value("number");
    const object = (): string => this.#value("object");
    const list = (): string => this.#value("list");
    return {
      number: [
        () => String(this.#next() % 10),
        () => this.#call(number()),
        () => this.#call(number()),
        () => `(${number()} ${this.#pick(["+", "-", "*", "||", "&&", "??", ","])} ${number()})`,
        () => `(${number()} ${this.#pick(["<", "===", ">="])} ${number()} ? ${number()} : ${number()})`,
        () => `(-${number()})`,
        () => `${object()}.n`,
        () => `${object()}["n"]`,
        () => `${object()}?.n`,
        () => `${list()}[0]`,
        () => `${list()}.length`,
        () => `${list()}.reduce((a, b) => a + b, 0)`,
        () => `${list()}.reduce((a, b) => a + ${this.#inFunction(false, "b", () => this.#call("b"))}, 0)`,
        () => `${list()}.filter(${this.#arrow("number")}).length`,
        () => `${list()}.some(${this.#arrow("number")})`,
        () => `(${list()}.find(${this.#arrow("number")}) ?? 0)`,
        () => `\`\${${number()}}\`.length`,
        () => `Math.max(${number()}, ${number()})`,
        () => `Number(${number()})`,
        () => `JSON.stringify(${object()}).length`,
        () => `(${this.#arrow("number")})(${number()})`,
        () => `[${number()}, ${number()}].at(-1)`,
        () => `({ a: ${number()} }).a`,
        () => `typeof ${number()}`,
      ],
      object: [
        () => `({ n: ${number()} })`,
        () => this.#call(`{ n: ${number()} }`),
        () => `({ ...${object()}, m: ${number()} })`,
        () => `${list()}.map((n) => ({ n }))[0]`,
        () => `[${object()}, ${object()}][0]`,
        () => `JSON.parse(JSON.stringify(${object()}))`,
        () => `Object.fromEntries(Object.entries(${object()}))`,
        () => `(${number()} > 3 ? ${object()} : ${object()})`,
      ],
      list: [
        () => `[${number()}, ${number()}]`,
        () => this.#call(`[${number()}, ${number()}]`),
        () => `${list()}.map(${this.#arrow("number")})`,
        () => `${list()}.map(${this.#arrow("object")}).map(({ n }) => n)`,
        () => `[...${list()}, ${number()}]`,
        () => `${list()}.slice()`,
        () => `${list()}.concat(${list()})`,
        () => `Array.from(${list()}, ${this.#arrow("number")})`,
        () => `${list()}.flatMap((n) => [n, ${this.#inFunction(false, "n", () => this.#call("n"))}])`,
        () => `Object.values(${object()})`,
        () => `Object.keys(${object()})`,
        () => `Object.entries(${object()}).map(([key, n]) => key.length + n)`,
        () => `Object.entries(${object()}).map(([key, n]) => [key, n]).map(([key, n]) => n)`,
        () => `[...new Map(Object.entries(${object()})).values()]`,
        () => `[new Map([["a", ${number()}], ["b", ${number()}]]).get("b") ?? 0]`,
        () => `[...new Set(${list()})]`,
        () => this.#awaited(`Promise.all([${number()}, ${number()}])`),
        () => this.#awaited(`Promise.all(${list()}.map(${this.#arrow("number")}))`),
      ],
    };
  }

  #statement(): string {
    return this.#write([
      () => this.#declare("const"),
      () => this.#declare("let"),
      () => this.#declareFunction(),
      () => this.#declareFunction(),
      () => this.#declareHolder(),
      () => this.#change(),
      () => this.#fill(),
      () => this.#group(),
      () => this.#takeApart(),
      () => `if (${this.#number()}) { ${this.#block()} } else { ${this.#block()} }`,
      () => `try { ${this.#block()} } catch (error) { throw error; }`,
      () => `switch (${this.#number()}) { case ${this.#number()}: ${this.#block()} break; default: ${this.#block()} }`,
      () => `${this.#value("list")}.forEach(${this.#arrow("number")});`,
      () => `${this.#value("list")}.map(${this.#arrow("number")});`,
      () => `${this.#number()};`,
    ]);
  }

  #block(): string {
    return this.#inside([], () => this.#statement());
  }

  #add(name: Name): string {
    this.#names.push(name);
    return name.name;
  }

  #declare(kind: "const" | "let"): string {
    const is = this.#pick(["number", "object", "list"] as const);
    const value = this.#value(is);
    return `${kind} ${this.#add({ name: this.#fresh("v"), is, canChange: kind === "let" })} = ${value};`;
  }

  #declareFunction(): string {
    const gives = this.#pick(["number", "object", "list"] as const);
    const [name, parameter] = [this.#fresh("f"), this.#fresh("p")];
    const isAsync = this.#pick(["", "async "]);
    const text = this.#pick([
      () => `const ${name} = ${this.#arrow(gives)};`,
      () => `${isAsync}function ${name}(${parameter}) { ${this.#body(isAsync, parameter, gives)} }`,
    ])();
    this.#add({ name, is: "function", gives, form: "plain" });
    return text;
  }

  /** An object or a class with a method. */
  #declareHolder(): string {
    const gives = this.#pick(["number", "object", "list"] as const);
    const [name, parameter] = [this.#fresh("h"), this.#fresh("p")];
    const isAsync = this.#pick(["", "async "]);
    const body = this.#body(isAsync, parameter, gives);
    const form = this.#pick(["method", "class"] as const);
    this.#add({ name, is: "function", gives, form });
    if (form === "class")
      return `class ${name} { constructor(start) { this.start = ${this.#inFunction(false, "start", () => this.#call("start"))}; } ${isAsync}run(${parameter}) { if (this.start < 0) return this.run(0); ${body} } }`;
    return `const ${name} = { ${this.#pick([`${isAsync}run(${parameter})`, `run: ${isAsync}(${parameter}) =>`])} { ${body} } };`;
  }

  #change(): string {
    const changing = this.#names.filter((name) => name.is !== "function" && name.canChange);
    if (changing.length === 0) return this.#declare("let");
    const name = this.#pick(changing);
    if (name.is === "function") return "";
    if (name.is === "number" && this.#pick([true, false]))
      return `${name.name} ${this.#pick(["+=", "-=", "??="])} ${this.#number()};`;
    return `${name.name} = ${this.#value(name.is)};`;
  }

  #fill(): string {
    const [name, each] = [this.#fresh("l"), this.#fresh("e")];
    const from = this.#value("list");
    const inLoop = (): string => this.#inside([{ name: each, is: "number", canChange: false }], () => this.#number());
    const inCallback = (): string => this.#inFunction(false, each, () => this.#number());
    const text = this.#pick([
      () => `const ${name} = [0]; for (const ${each} of ${from}) ${name}.push(${inLoop()});`,
      () =>
        `const ${name} = [0]; for (const [k, ${each}] of Object.entries({ n: ${from}[0] })) ${name}.push(${inLoop()});`,
      () => `const ${name} = [0]; for (const ${each} of ${from}) ${name}[${name}.length] = ${inLoop()};`,
      () => `const ${name} = [0]; ${from}.forEach((${each}) => ${name}.push(${inCallback()}));`,
      () => `const ${name} = [0]; ${from}.forEach((${each}) => { ${name}.push(${inCallback()}); });`,
    ])();
    this.#add({ name, is: "list", canChange: false });
    return text;
  }

  /** Lists and numbers by names that are made on the way. */
  #group(): string {
    const [name, each] = [this.#fresh("g"), this.#fresh("e")];
    const from = this.#value("list");
    const value = this.#inside([{ name: each, is: "number", canChange: false }], () => this.#number());
    return this.#pick([
      () => {
        this.#add({ name: `${name}.n`, is: "list", canChange: false });
        return `const ${name} = { n: [] }; for (const ${each} of ${from}) (${name}[${each} > 3 ? "n" : "k" + ${each}] ??= []).push(${value});`;
      },
      () => {
        this.#add({ name, is: "object", canChange: false });
        return `const ${name} = { n: 0 }; for (const ${each} of ${from}) ${name}["k" + ${each}] = ${value};`;
      },
      () => {
        this.#add({ name: `(${name}.get("n") ?? 0)`, is: "number", canChange: false });
        return `const ${name} = new Map(); for (const ${each} of ${from}) ${name}.set("n", ${value});`;
      },
    ])();
  }

  #takeApart(): string {
    const name = this.#fresh("d");
    const text = this.#pick([
      () => `const { n: ${name} } = ${this.#value("object")};`,
      () => `const [${name}] = ${this.#value("list")};`,
      () => `const { n: ${name} = ${this.#number()} } = ${this.#value("object")};`,
    ])();
    this.#add({ name, is: "number", canChange: false });
    return text;
  }
}
