/** A skill whose methods answer in ways that no caller expects. */
export const HOSTILE_SKILL = `
/** Answers in odd ways. */
export class HostileSkill {
  /** Nested deeply. */
  deep() { let v = 1; for (let i = 0; i < 100000; i++) v = [v]; return v; }
  /** Holds itself. */
  cycle() { const v = {}; v.v = v; return v; }
  /** Is no JSON. */
  unjson() { return { toJSON: () => undefined }; }
  /** Holds what JSON has no word for. */
  odd() { return [10n, Symbol("x"), () => 1, new Map([[{}, 1]]), NaN, new Date(NaN)]; }
  /** Throws nothing. */
  nothing() { throw null; }
  /** Throws what holds itself. */
  thrown() { const e = new Error("x"); e.cause = e; e.toJSON = () => { throw e; }; throw e; }
  /** Wants to end the process. */
  exit() { process.exit(7); }
  /** Ends the process. */
  kill() { process.kill(process.pid, "SIGKILL"); return new Promise(() => {}); }
  /** Throws when its answer was given. */
  late() { setTimeout(() => { throw new Error("late"); }); Promise.reject(new Error("unheard")); return 1; }
  /** Fetches nothing that is there. */
  fetch() { fetch("http://["); return 1; }
  /** Answers at length. */
  large() { return "x".repeat(8 << 20); }
  /** Gives back what came. @param {any} value */
  echo(value) { return value; }
}
`;

/** An MCP server with one tool, whose structured content is nested deeper than recursion goes. */
export const DEEP_SERVER = `
import { createInterface } from "node:readline";
const send = (id, rest) => process.stdout.write(\`{"jsonrpc":"2.0","id":\${JSON.stringify(id)},\${rest}}\\n\`);
const RESULTS = {
  initialize: '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"deep","version":"1"}}',
  "tools/list": '{"tools":[{"name":"deep","inputSchema":{"type":"object"}}]}',
  "tools/call": '{"content":[],"structuredContent":{"a":' + "[".repeat(300000) + "]".repeat(300000) + "}}",
};
for await (const line of createInterface(process.stdin)) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  if (Object.hasOwn(RESULTS, method)) send(id, '"result":' + RESULTS[method]);
  else send(id, '"error":{"code":-32601,"message":"no such method"}');
}
`;

/** A hostile input, and the exit code of a command that receives it. */
export interface HostileInput {
  readonly name: string;
  readonly exit: 0 | 1 | 3;
}

export interface HostileProgram extends HostileInput {
  readonly code: string;
}

/** Hostile programs. */
export const PROGRAMS: readonly HostileProgram[] = [
  { name: "a deep value", exit: 1, code: "let v = 1; for (let i = 0; i < 6000; i++) v = [v]; return v;" },
  {
    name: "a deep argument",
    exit: 1,
    code: "let v = 1; for (let i = 0; i < 6000; i++) v = [v]; await device.HostileSkill.echo(v)",
  },
  {
    name: "a toJSON of its own",
    exit: 1,
    code: 'Array.prototype.toJSON = () => undefined; device.read_result("x", 0, 1)',
  },
  {
    name: "a toJSON that is defined",
    exit: 1,
    code: 'Object.defineProperty(Array.prototype, "toJSON", { value: () => undefined }); device.read_result("x", 0, 1)',
  },
  {
    name: "a toJSON by a computed name",
    exit: 1,
    code: 'Array.prototype["to" + "JSON"] = () => undefined; device.read_result("x", 0, 1)',
  },
  {
    name: "a toJSON that throws",
    exit: 3,
    code: 'Object.prototype["to" + "JSON"] = () => { throw 1 }; await device.HostileSkill.echo({})',
  },
  { name: "a cycle", exit: 1, code: "const v = {}; v.v = v; return v;" },
  { name: "a thrown null", exit: 1, code: "throw null" },
  {
    name: "a rejection that nothing awaits",
    exit: 1,
    code: 'Promise.reject(new Error("x")); await new Promise(() => {})',
  },
  { name: "lone surrogates", exit: 0, code: '"\\ud800" + await device.HostileSkill.echo("\\udfff\\u0000")' },
  { name: "a large print", exit: 0, code: 'for (let i = 0; i < 100; i++) print("x".repeat(100000)); 1' },
  { name: "deep parentheses", exit: 3, code: `${"(".repeat(20_000)}1${")".repeat(20_000)}` },
  { name: "a long source", exit: 3, code: `"${"x".repeat(2 << 20)}"` },
];

export interface HostileMethod extends HostileInput {
  /** `Skill.method` */
  readonly path: string;
}

/** Methods of a skill and a server with hostile answers. */
export const METHODS: readonly HostileMethod[] = [
  { name: "a deep answer of a server", path: "DeepMCP.deep", exit: 1 },
  { name: "a deep answer", path: "HostileSkill.deep", exit: 1 },
  { name: "a circular answer", path: "HostileSkill.cycle", exit: 1 },
  { name: "an answer that JSON cannot represent", path: "HostileSkill.unjson", exit: 0 },
  { name: "an answer without words in JSON", path: "HostileSkill.odd", exit: 1 },
  { name: "a thrown null from a method", path: "HostileSkill.nothing", exit: 1 },
  { name: "a circular error", path: "HostileSkill.thrown", exit: 1 },
  { name: "an end of the process", path: "HostileSkill.exit", exit: 1 },
  { name: "a killed process", path: "HostileSkill.kill", exit: 1 },
  { name: "errors after the answer", path: "HostileSkill.late", exit: 0 },
  { name: "a wrong fetch", path: "HostileSkill.fetch", exit: 0 },
  { name: "a large answer", path: "HostileSkill.large", exit: 0 },
];

const call = (id: string, value: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"HostileSkill__echo","arguments":{"value":${value}}}}`;

/** Hostile messages that a client may send as JSON. */
export const TEXTS: readonly (readonly [name: string, text: string | Buffer])[] = [
  ["nothing but brackets", "[".repeat(1_000_000)],
  ["a deep list", "[".repeat(100_000) + "]".repeat(100_000)],
  ["a deep argument", call("1", "[".repeat(100_000) + "]".repeat(100_000))],
  ["a deep id", call("[".repeat(100_000) + "]".repeat(100_000), "1")],
  [
    "deep params",
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}}`,
  ],
  ["a cut-off message", '{"jsonrpc":"2.0","id":1,"method":"tools/ca'],
  ["invalid UTF-8", Buffer.from('{"jsonrpc":"2.0","id":"\xC3(","method":"ping"}', "latin1")],
  ["lone surrogates", call('"\\ud800"', '"\\udfff\\u0000"')],
  ["an infinite id", call("1e400", "1")],
  ["a negative zero as id", call("-0", "1")],
  ["a long id", call(`"${"x".repeat(1 << 20)}"`, "1")],
  ["an id that is an object", call("{}", "1")],
  ["no id", '{"jsonrpc":"2.0","id":null,"method":"tools/call"}'],
  ["a prototype", call("1", '{"__proto__":{"a":1},"constructor":{"prototype":null},"toJSON":1}')],
  ["a method of every object", '{"jsonrpc":"2.0","id":1,"method":"__proto__","params":{"name":"constructor"}}'],
  [
    "odd meta",
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_code","_meta":{"progressToken":[]}}}',
  ],
  ["an answer to nothing", '{"jsonrpc":"2.0","id":1,"result":{}}'],
  ["an answer without anything", '{"jsonrpc":"2.0","id":1}'],
  ["more than a message may have", `"${"x".repeat(5 << 20)}"`],
];
