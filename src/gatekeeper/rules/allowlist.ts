import type { ErrorCode } from "../../errors.ts";

/*
 * The syntax and globals that a program may use, and messages for the rest. Data only: a node type, a global or a member of
 * a builtin that is missing from these tables is refused.
 */

/** The node types that are allowed, each with the fields that hold other nodes, in the order of the text. */
export const NODES: Readonly<Record<string, readonly string[]>> = {
  Program: ["body"],

  // Statements.
  BlockStatement: ["body"],
  BreakStatement: [],
  ContinueStatement: [],
  DebuggerStatement: [],
  DoWhileStatement: ["body", "test"],
  EmptyStatement: [],
  ExpressionStatement: ["expression"],
  ForInStatement: ["left", "right", "body"],
  ForOfStatement: ["left", "right", "body"],
  ForStatement: ["init", "test", "update", "body"],
  IfStatement: ["test", "consequent", "alternate"],
  LabeledStatement: ["body"],
  ReturnStatement: ["argument"],
  SwitchCase: ["test", "consequent"],
  SwitchStatement: ["discriminant", "cases"],
  ThrowStatement: ["argument"],
  TryStatement: ["block", "handler", "finalizer"],
  CatchClause: ["param", "body"],
  WhileStatement: ["test", "body"],

  // Declarations. `export` is removed from the two exports: models write programs in that form.
  ClassDeclaration: ["id", "superClass", "body"],
  ExportDefaultDeclaration: ["declaration"],
  ExportNamedDeclaration: ["declaration"],
  FunctionDeclaration: ["id", "params", "body"],
  VariableDeclaration: ["declarations"],
  VariableDeclarator: ["id", "init"],

  // Expressions.
  ArrayExpression: ["elements"],
  ArrowFunctionExpression: ["params", "body"],
  AssignmentExpression: ["left", "right"],
  AwaitExpression: ["argument"],
  BinaryExpression: ["left", "right"],
  CallExpression: ["callee", "arguments"],
  ChainExpression: ["expression"],
  ClassExpression: ["id", "superClass", "body"],
  ConditionalExpression: ["test", "consequent", "alternate"],
  FunctionExpression: ["id", "params", "body"],
  Identifier: [],
  Literal: [],
  LogicalExpression: ["left", "right"],
  MemberExpression: ["object", "property"],
  MetaProperty: [],
  NewExpression: ["callee", "arguments"],
  ObjectExpression: ["properties"],
  SequenceExpression: ["expressions"],
  SpreadElement: ["argument"],
  Super: [],
  TaggedTemplateExpression: ["tag", "quasi"],
  TemplateElement: [],
  TemplateLiteral: ["quasis", "expressions"],
  ThisExpression: [],
  UnaryExpression: ["argument"],
  UpdateExpression: ["argument"],
  YieldExpression: ["argument"],

  // Patterns, properties and the inside of classes.
  ArrayPattern: ["elements"],
  AssignmentPattern: ["left", "right"],
  ClassBody: ["body"],
  MethodDefinition: ["key", "value"],
  ObjectPattern: ["properties"],
  PrivateIdentifier: [],
  Property: ["key", "value"],
  PropertyDefinition: ["key", "value"],
  RestElement: ["argument"],
  StaticBlock: ["body"],
};

/** The field that is a name, not an expression, unless the node is `computed`. */
export const NAME_FIELDS: Readonly<Record<string, string>> = {
  MemberExpression: "property",
  MethodDefinition: "key",
  Property: "key",
  PropertyDefinition: "key",
};

/** A specific code and fix for refused syntax or a refused global. */
export interface SyntaxRefusal {
  readonly code: ErrorCode;
  readonly fix: string;
  /** A search query for methods that can replace it. */
  readonly search?: string;
}

const NO_MODULES = "Leave it out: everything is on device, call await device.Skill.method(…)";

export const REFUSED_NODES: Readonly<Record<string, SyntaxRefusal>> = {
  ExportAllDeclaration: { code: "MODULE_FORBIDDEN", fix: NO_MODULES },
  ImportDeclaration: { code: "MODULE_FORBIDDEN", fix: NO_MODULES },
  ImportExpression: { code: "MODULE_FORBIDDEN", fix: NO_MODULES },
  WithStatement: { code: "NODE_FORBIDDEN", fix: "Destructure the object: const { a, b } = object" },
};

/** The globals of the sandbox. Builtins that are functions or namespaces have their own members in `BUILTIN_MEMBERS`. */
export const GLOBALS: ReadonlySet<string> = new Set([
  ..."device console print".split(" "),
  ..."undefined NaN Infinity".split(" "),
  ..."parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape".split(
    " ",
  ),
  ..."Object Boolean Symbol Number BigInt Math Date String RegExp JSON Reflect Proxy Iterator Promise".split(" "),
  ..."Array Map Set WeakMap WeakSet ArrayBuffer DataView".split(" "),
  ..."Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array".split(" "),
  ..."BigInt64Array BigUint64Array Float16Array Float32Array Float64Array".split(" "),
  ..."Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError InternalError".split(" "),
  ..."setTimeout clearTimeout setInterval clearInterval queueMicrotask structuredClone".split(" "),
  ..."TextEncoder TextDecoder URL URLSearchParams atob btoa performance Intl".split(" "),
]);

const FUNCTION_MEMBERS = "length name prototype apply bind call toString hasOwnProperty";
const OBJECT_MEMBERS = "hasOwnProperty isPrototypeOf propertyIsEnumerable toLocaleString toString valueOf";

/** The members of the builtins. A call of any other member is refused. */
export const BUILTIN_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = splitMembers({
  Array: `${FUNCTION_MEMBERS} isArray from of`,
  ArrayBuffer: `${FUNCTION_MEMBERS} isView`,
  BigInt: `${FUNCTION_MEMBERS} asIntN asUintN`,
  Date: `${FUNCTION_MEMBERS} UTC now parse`,
  Intl: `${OBJECT_MEMBERS} Collator DateTimeFormat NumberFormat`,
  Iterator: `${FUNCTION_MEMBERS} concat from`,
  JSON: `${OBJECT_MEMBERS} parse stringify`,
  Map: `${FUNCTION_MEMBERS} groupBy`,
  Math: `${OBJECT_MEMBERS} E LN10 LN2 LOG10E LOG2E PI SQRT1_2 SQRT2 abs acos acosh asin asinh atan atan2 atanh cbrt ceil clz32 cos cosh
    exp expm1 f16round floor fround hypot imul log log10 log1p log2 max min pow random round sign sin sinh sqrt sumPrecise tan tanh trunc`,
  Number: `${FUNCTION_MEMBERS} EPSILON MAX_SAFE_INTEGER MAX_VALUE MIN_SAFE_INTEGER MIN_VALUE NEGATIVE_INFINITY NaN POSITIVE_INFINITY
    isFinite isInteger isNaN isSafeInteger parseFloat parseInt`,
  Object: `${FUNCTION_MEMBERS} assign create defineProperties defineProperty entries freeze fromEntries getOwnPropertyDescriptor
    getOwnPropertyDescriptors getOwnPropertyNames getOwnPropertySymbols getPrototypeOf groupBy hasOwn is isExtensible isFrozen isSealed
    keys preventExtensions seal setPrototypeOf values`,
  Promise: `${FUNCTION_MEMBERS} all allSettled any race reject resolve try withResolvers`,
  Proxy: `${FUNCTION_MEMBERS} revocable`,
  Reflect: `${OBJECT_MEMBERS} apply construct defineProperty deleteProperty get getOwnPropertyDescriptor getPrototypeOf has isExtensible
    ownKeys preventExtensions set setPrototypeOf`,
  RegExp: `${FUNCTION_MEMBERS} escape`,
  Set: `${FUNCTION_MEMBERS} groupBy`,
  String: `${FUNCTION_MEMBERS} fromCharCode fromCodePoint raw`,
  Symbol: `${FUNCTION_MEMBERS} for keyFor`,
  Uint8Array: `${FUNCTION_MEMBERS} BYTES_PER_ELEMENT from of`,
  Error: `${FUNCTION_MEMBERS} isError prepareStackTrace stackTraceLimit`,
  URL: `${FUNCTION_MEMBERS} canParse parse`,
  performance: `${OBJECT_MEMBERS} now`,
  console: `${OBJECT_MEMBERS} assert clear count countReset debug dir error group groupEnd info log table time timeEnd timeLog trace warn`,
});

const SLEEP = "Write await new Promise((done) => setTimeout(done, ms))";

/** Members that models know from other runtimes, each with a fix. */
export const REFUSED_MEMBERS: Readonly<Record<string, string>> = {
  "Array.fromAsync":
    "Write await Promise.all(list); for an async generator, write for await (const item of items) list.push(item)",
  "Array.range": "Write Array.from({ length: n }, (_, i) => i)",
  "Error.captureStackTrace": "Remove it: every error has a stack",
  "Intl.DisplayNames": 'Write the names into the program: { DE: "Germany" }',
  "Intl.ListFormat": 'Write `${list.slice(0, -1).join(", ")} and ${list.at(-1)}`',
  "Intl.Locale": 'Write the locale as a text: "en-US"',
  "Intl.PluralRules": 'Write count === 1 ? "item" : "items"',
  "Intl.RelativeTimeFormat": "Write the text yourself: `${days} days ago`",
  "Intl.Segmenter": "Write [...text] for characters, and text.match(/[\\p{L}\\p{N}]+/gu) for words",
  "JSON.dumps": "Write JSON.stringify(value)",
  "JSON.loads": "Write JSON.parse(text)",
  "Math.average": "Write list.reduce((a, b) => a + b, 0) / list.length",
  "Math.mean": "Write list.reduce((a, b) => a + b, 0) / list.length",
  "Math.sum": "Write list.reduce((a, b) => a + b, 0)",
  "Math.randomInt": "Write Math.floor(Math.random() * n)",
  "Object.each": "Write for (const [key, value] of Object.entries(object)) { … }",
  "Object.map": "Write Object.fromEntries(Object.entries(object).map(([key, value]) => [key, …]))",
  "Promise.delay": SLEEP,
  "Promise.map": "Write await Promise.all(list.map(async (item) => …))",
  "Promise.sleep": SLEEP,
  "Uint8Array.fromBase64": "Write Uint8Array.from(atob(text), (character) => character.charCodeAt(0))",
  "Uint8Array.fromHex": "Write Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16))",
  "String.format": "Write a template string: `${value}`",
};

const NO_NETWORK = "There is no network here: call a method of device that fetches";
const NO_FILES = "There are no files here: call a method of device that reads or writes them";
const NO_PROCESS = "There is no process here: write the values into the program, and return the result";
const NO_PAGE = "There is no page here: return the data";
const NO_REQUIRE = "Leave it out: everything is on device, call await device.Skill.method(…)";
const NO_CODE = "Write the code itself in the program";
const PLAIN_TEXT = "Write the text as a plain template literal, without a tag or a function";
const NO_GLOBAL_OBJECT = "Write the name itself, and keep your own values in your own variables";

/** Globals that models expect but the sandbox lacks. `a.b` takes precedence over `a`. */
export const REFUSED_GLOBALS: ReadonlyMap<string, SyntaxRefusal> = new Map(
  Object.entries<SyntaxRefusal>({
    // Code from text, and the global object.
    eval: { code: "CODE_FORBIDDEN", fix: NO_CODE },
    Function: {
      code: "CODE_FORBIDDEN",
      fix: 'Write the function itself; to test for one, write typeof value === "function"',
    },
    execScript: { code: "CODE_FORBIDDEN", fix: NO_CODE },
    globalThis: { code: "GLOBAL_FORBIDDEN", fix: NO_GLOBAL_OBJECT },
    global: { code: "GLOBAL_FORBIDDEN", fix: NO_GLOBAL_OBJECT },
    self: { code: "GLOBAL_FORBIDDEN", fix: NO_GLOBAL_OBJECT },
    arguments: { code: "GLOBAL_FORBIDDEN", fix: "Write the values into the program: it gets no arguments" },
    WeakRef: { code: "GLOBAL_FORBIDDEN", fix: "Keep the value in a variable" },
    FinalizationRegistry: { code: "GLOBAL_FORBIDDEN", fix: "Clean up in try { … } finally { … }" },
    SharedArrayBuffer: { code: "GLOBAL_FORBIDDEN", fix: "Write new ArrayBuffer(length): there are no threads" },
    Atomics: { code: "GLOBAL_FORBIDDEN", fix: "Use plain variables: there are no threads" },
    Worker: { code: "GLOBAL_FORBIDDEN", fix: "Write the work into the program: there are no threads" },
    importScripts: { code: "MODULE_FORBIDDEN", fix: NO_REQUIRE },
    WebAssembly: { code: "CODE_FORBIDDEN", fix: NO_CODE },

    // Network.
    fetch: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    XMLHttpRequest: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    axios: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    got: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    requests: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    http: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    https: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    urllib: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK, search: "fetch a url http request" },
    WebSocket: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    EventSource: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    Headers: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    Request: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    Response: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    FormData: { code: "GLOBAL_FORBIDDEN", fix: NO_NETWORK },
    AbortController: { code: "GLOBAL_FORBIDDEN", fix: "Leave it out: every call has its own timeout" },
    AbortSignal: { code: "GLOBAL_FORBIDDEN", fix: "Leave it out: every call has its own timeout" },

    // Files and processes.
    fs: { code: "GLOBAL_FORBIDDEN", fix: NO_FILES, search: "read a file" },
    path: { code: "GLOBAL_FORBIDDEN", fix: "Build paths as strings: `${folder}/${name}`" },
    open: { code: "GLOBAL_FORBIDDEN", fix: NO_FILES, search: "read a file" },
    process: { code: "GLOBAL_FORBIDDEN", fix: NO_PROCESS },
    "process.env": {
      code: "GLOBAL_FORBIDDEN",
      fix: "There is no environment here: methods of device have their own credentials",
    },
    "process.argv": {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write the values into the program; a run that was started with an input has it in device.input()",
    },
    "process.exit": { code: "GLOBAL_FORBIDDEN", fix: "Write return to end the program" },
    "process.nextTick": { code: "GLOBAL_FORBIDDEN", fix: "Write queueMicrotask(callback)" },
    "process.stdout": { code: "GLOBAL_FORBIDDEN", fix: "Write print(value)" },
    child_process: {
      code: "GLOBAL_FORBIDDEN",
      fix: "There is no shell here: call a method of device",
      search: "run a command",
    },
    exec: { code: "GLOBAL_FORBIDDEN", fix: "There is no shell here: call a method of device", search: "run a command" },
    subprocess: {
      code: "GLOBAL_FORBIDDEN",
      fix: "There is no shell here: call a method of device",
      search: "run a command",
    },
    os: { code: "GLOBAL_FORBIDDEN", fix: NO_PROCESS },
    sys: { code: "GLOBAL_FORBIDDEN", fix: NO_PROCESS },
    Deno: { code: "GLOBAL_FORBIDDEN", fix: "This is not Deno: call a method of device" },
    Bun: { code: "GLOBAL_FORBIDDEN", fix: "This is not Bun: call a method of device" },
    __dirname: { code: "GLOBAL_FORBIDDEN", fix: "There are no files here: write the path that the method needs" },
    __filename: { code: "GLOBAL_FORBIDDEN", fix: "There are no files here: write the path that the method needs" },
    Buffer: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write new TextEncoder().encode(text), or btoa(text) and atob(text) for base64",
    },
    require: { code: "MODULE_FORBIDDEN", fix: NO_REQUIRE },
    module: { code: "MODULE_FORBIDDEN", fix: "Write return value as the last line" },
    exports: { code: "MODULE_FORBIDDEN", fix: "Write return value as the last line" },
    define: { code: "MODULE_FORBIDDEN", fix: NO_REQUIRE },

    // Pages.
    window: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    document: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    location: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    navigator: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    history: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    localStorage: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write await device.store.set(key, value), and await device.store.get(key) in a later run",
      search: "store remember a value",
    },
    sessionStorage: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write await device.store.set(key, value), and await device.store.get(key) in a later run",
      search: "store remember a value",
    },
    indexedDB: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write await device.store.set(key, value), and await device.store.get(key) in a later run",
      search: "store remember a value",
    },
    alert: { code: "GLOBAL_FORBIDDEN", fix: "Write print(text)" },
    confirm: { code: "GLOBAL_FORBIDDEN", fix: "Return the question: no user can answer while the program runs" },
    prompt: { code: "GLOBAL_FORBIDDEN", fix: "Return the question: no user can answer while the program runs" },
    input: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Return the question: no user can answer while the program runs. The input of the run is device.input()",
    },
    requestAnimationFrame: { code: "GLOBAL_FORBIDDEN", fix: "Write setTimeout(callback, ms)" },
    DOMParser: { code: "GLOBAL_FORBIDDEN", fix: "Parse the text with string methods and regular expressions" },

    // Other runtimes and libraries.
    setImmediate: { code: "GLOBAL_FORBIDDEN", fix: "Write setTimeout(callback, 0)" },
    crypto: {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write Math.random() for numbers that need not be secret; for a hash, call a method of device",
    },
    "crypto.randomUUID": {
      code: "GLOBAL_FORBIDDEN",
      fix: "Write `${Date.now()}-${Math.random().toString(36).slice(2)}` for an id that need not be secret",
    },
    Temporal: { code: "GLOBAL_FORBIDDEN", fix: "Write new Date(…)" },
    moment: { code: "GLOBAL_FORBIDDEN", fix: "Write new Date(…)" },
    dayjs: { code: "GLOBAL_FORBIDDEN", fix: "Write new Date(…)" },
    _: { code: "GLOBAL_FORBIDDEN", fix: "Use the methods of Array and Object: there are no libraries" },
    lodash: { code: "GLOBAL_FORBIDDEN", fix: "Use the methods of Array and Object: there are no libraries" },
    $: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    jQuery: { code: "GLOBAL_FORBIDDEN", fix: NO_PAGE },
    delay: { code: "GLOBAL_FORBIDDEN", fix: SLEEP },
    sleep: { code: "GLOBAL_FORBIDDEN", fix: SLEEP },
    wait: { code: "GLOBAL_FORBIDDEN", fix: SLEEP },
    Event: { code: "GLOBAL_FORBIDDEN", fix: "Call your function directly" },
    EventTarget: { code: "GLOBAL_FORBIDDEN", fix: "Call your function directly" },
    Blob: { code: "GLOBAL_FORBIDDEN", fix: "Write new Uint8Array(length)" },

    // Known while another machine offers methods.
    devices: {
      code: "GLOBAL_UNKNOWN",
      fix: "No other machine is connected; write device.Skill.method() for the methods of this one",
    },

    gql: { code: "GLOBAL_UNKNOWN", fix: PLAIN_TEXT },
    graphql: { code: "GLOBAL_UNKNOWN", fix: PLAIN_TEXT },

    // Python.
    len: { code: "GLOBAL_UNKNOWN", fix: "Write list.length" },
    range: { code: "GLOBAL_UNKNOWN", fix: "Write for (let i = 0; i < n; i++) { … }" },
    str: { code: "GLOBAL_UNKNOWN", fix: "Write String(value)" },
    int: { code: "GLOBAL_UNKNOWN", fix: "Write parseInt(text, 10) or Math.trunc(number)" },
    float: { code: "GLOBAL_UNKNOWN", fix: "Write Number(text)" },
    bool: { code: "GLOBAL_UNKNOWN", fix: "Write Boolean(value)" },
    list: { code: "GLOBAL_UNKNOWN", fix: "Write Array.from(values)" },
    dict: { code: "GLOBAL_UNKNOWN", fix: "Write { key: value }" },
    tuple: { code: "GLOBAL_UNKNOWN", fix: "Write [a, b]" },
    sum: { code: "GLOBAL_UNKNOWN", fix: "Write list.reduce((a, b) => a + b, 0)" },
    sorted: { code: "GLOBAL_UNKNOWN", fix: "Write list.toSorted((a, b) => a - b)" },
    enumerate: { code: "GLOBAL_UNKNOWN", fix: "Write for (const [index, value] of list.entries()) { … }" },
    zip: { code: "GLOBAL_UNKNOWN", fix: "Write a.map((value, index) => [value, b[index]])" },
    json: { code: "GLOBAL_UNKNOWN", fix: "Write JSON.parse(text) or JSON.stringify(value)" },
    asyncio: { code: "GLOBAL_UNKNOWN", fix: "Write await Promise.all([…])" },
    datetime: { code: "GLOBAL_UNKNOWN", fix: "Write new Date()" },
    time: {
      code: "GLOBAL_UNKNOWN",
      fix: "Write Date.now(), or await new Promise((done) => setTimeout(done, ms)) to wait",
    },
    isinstance: { code: "GLOBAL_UNKNOWN", fix: "Write typeof value or value instanceof Class" },
    hasattr: { code: "GLOBAL_UNKNOWN", fix: "Write key in object" },
    getattr: { code: "GLOBAL_UNKNOWN", fix: "Write object[key]" },
    reversed: { code: "GLOBAL_UNKNOWN", fix: "Write list.toReversed()" },
    raise: { code: "GLOBAL_UNKNOWN", fix: 'Write throw new Error("…")' },
    pass: { code: "GLOBAL_UNKNOWN", fix: "Leave it out: a block may be empty" },
    Exception: { code: "GLOBAL_UNKNOWN", fix: "Write new Error(message)" },
    ValueError: { code: "GLOBAL_UNKNOWN", fix: "Write new Error(message)" },
    KeyError: { code: "GLOBAL_UNKNOWN", fix: "Write new Error(message)" },
    RuntimeError: { code: "GLOBAL_UNKNOWN", fix: "Write new Error(message)" },
  }),
);

/** Words of other languages with their JavaScript equivalents; used if the program does not declare them. */
export const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["nil", "null"],
]);

/** Names of the tool object in other systems: always read as `device`, or only if a skill name follows. */
export const DEVICE_NAMES: ReadonlyMap<string, "always" | "with a skill"> = new Map([
  ["default_api", "always"],
  ["devices", "with a skill"],
  ["tools", "with a skill"],
  ["skills", "with a skill"],
  ["functions", "with a skill"],
  ["api", "with a skill"],
]);

/** Signatures of the methods of `device` itself, independent of the catalog. */
export const DEVICE_METHODS: ReadonlyMap<string, string> = new Map([
  ["search_skills", "search_skills(query?: string | string[], limit?: number, offset?: number)"],
  ["describe", "describe(path: string | string[])"],
  ["read_result", "read_result(uri: string, offset?: number, length?: number)"],
  ["result", "result(handle: string)"],
  ["budget", "budget()"],
  ["input", "input()"],
]);
/** Names that models use for the methods of `device`, with the correct name. */
export const DEVICE_METHOD_NAMES: ReadonlyMap<string, string> = new Map([
  ["search_skills", "search_skills"],
  ["searchSkills", "search_skills"],
  ["describe", "describe"],
  ["describe_function", "describe"],
  ["describeFunction", "describe"],
  ["read_result", "read_result"],
  ["readResult", "read_result"],
  ["result", "result"],
  ["budget", "budget"],
  ["input", "input"],
]);

/** The prefix of names that are reserved for generated code. */
export const RESERVED_PREFIX = "__wait";

function splitMembers(table: Readonly<Record<string, string>>): Readonly<Record<string, ReadonlySet<string>>> {
  const entries = Object.entries(table).map(([name, members]) => [name, new Set(members.split(/\s+/))] as const);
  return Object.assign(Object.create(null) as Record<string, ReadonlySet<string>>, Object.fromEntries(entries));
}
