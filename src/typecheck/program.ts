import { deleteOldest } from "../shared/lru.ts";
import ts from "typescript";

import { withAnyCall } from "./device.ts";
import { libraryText } from "./library.ts";
import type { CheckRequest } from "./protocol.ts";
import { createTypedProgram, type TypedProgram } from "./typed-program.ts";

/** How much of the declarations of earlier checks is kept, in characters: each takes about fifty bytes. */
const KEPT_DECLARATIONS = 3 << 20;

/** The compiler takes ever longer for what is nested, or chained, deeper than this. */
const MAX_DEPTH = 400;

/** How many characters one checker reads: it keeps the types of all programs that it has read. */
const CHARACTERS_OF_CHECKER = 1 << 20;

/** Makes a file a module: its names are its own, and are not merged into the globals of the checker. */
const MODULE = "\nexport {};";

/** A function around the program makes `await` and `return` right. */
const BEFORE = "async function __program() {";
const AFTER = `\n}${MODULE}`;

/** Where the program begins in the text that is read. */
export const PROGRAM_START = BEFORE.length;

const LIBRARY_FILE = "/library.d.ts";
const DEVICE_FILE = "/device.d.ts";

/** Checks the program as JavaScript: types are not required, and every value may be missing. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext,
  noLib: true,
  noResolve: true,
  types: [],
  allowJs: true,
  checkJs: true,
  strict: false,
  noEmit: true,
};

/** Reads programs for one checker, which computes the types of the library once. */
export interface ProgramReader {
  /** Returns `undefined` for a program that cannot be understood. */
  readonly read: (order: CheckRequest) => TypedProgram | undefined;
  /** Takes a new checker: one that has thrown may hold what it had half computed. */
  readonly renew: () => void;
}

export function createProgramReader(): ProgramReader {
  const library = parse(LIBRARY_FILE, libraryText());
  const devices = new Map<string, Device>();
  let size = 0;
  let checker = createChecker(library);
  let left = CHARACTERS_OF_CHECKER;

  function getDevice(declarations: string): Device {
    const device = devices.get(declarations);
    if (device !== undefined) return device;
    const read = readDevice(declarations);
    devices.set(declarations, read);
    size += declarations.length;
    const isTooFull = (): boolean => size > KEPT_DECLARATIONS && devices.size > 1;
    deleteOldest(devices, isTooFull, (oldest) => {
      devices.delete(oldest);
      size -= oldest.length;
    });
    return read;
  }

  function renew(): void {
    checker = createChecker(library);
    left = CHARACTERS_OF_CHECKER;
  }

  return {
    read({ code, typescript, declarations }) {
      if (left < 0) renew();
      left -= code.length + declarations.length;
      const device = getDevice(declarations);
      const file = parse(typescript ? "/program.ts" : "/program.js", BEFORE + code + AFTER);
      if (file.parseDiagnostics.length > 0 || isDeeper(file, MAX_DEPTH)) return undefined;
      const { locals } = bind(file);
      for (const name of DEVICE_OBJECTS) {
        const object = device.file.locals.get(name);
        if (object !== undefined) locals.set(name, object);
      }
      return createTypedProgram({ library, device: device.file, methods: device.methods, program: file }, checker);
    },
    renew,
  };
}

interface Device {
  readonly file: BoundFile;
  readonly methods: ReadonlySet<string>;
}

const DEVICE_OBJECTS = ["device", "devices"];

/** Parses the declarations in their own namespace, where `Promise` is a result that works with and without `await`. */
function readDevice(declarations: string): Device {
  const { text, methods } = withAnyCall(declarations);
  const source = `declare namespace __Declared {
type Promise<T> = __Answer<T>;
${text}
}
${DEVICE_OBJECTS.filter((name) => text.includes(`declare const ${name}: `))
  .map((name) => `declare const ${name}: typeof __Declared.${name};`)
  .join("\n")}
${MODULE}`;
  return { file: bind(parse(DEVICE_FILE, source)), methods };
}

function isDeeper(node: ts.Node, levels: number): boolean {
  return levels === 0 || ts.forEachChild(node, (child) => isDeeper(child, levels - 1) || undefined) === true;
}

/** Members that TypeScript 5.9 and 6 have, and do not declare. */
interface ParsedFile extends ts.SourceFile {
  readonly parseDiagnostics: readonly ts.Diagnostic[];
}

interface BoundFile extends ts.SourceFile {
  readonly locals: Map<string, ts.Symbol>;
}

interface Binder {
  readonly bindSourceFile: (file: ts.SourceFile, options: ts.CompilerOptions) => void;
}

function parse(name: string, text: string): ParsedFile {
  const options = { languageVersion: ts.ScriptTarget.ESNext, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(name, text, options, true) as ParsedFile;
}

/** Finds the names of a file that is not one of the files of a checker. The checker then reads it like them. */
function bind(file: ts.SourceFile): BoundFile {
  (ts as unknown as Binder).bindSourceFile(file, OPTIONS);
  return file as BoundFile;
}

/** Creates a checker that knows the library alone. */
function createChecker(library: ts.SourceFile): ts.TypeChecker {
  const host: ts.CompilerHost = {
    getSourceFile: () => library,
    fileExists: (name) => name === LIBRARY_FILE,
    readFile: () => undefined,
    writeFile: () => undefined,
    getDefaultLibFileName: () => LIBRARY_FILE,
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    directoryExists: () => false,
    getDirectories: () => [],
  };
  return ts.createProgram({ rootNames: [LIBRARY_FILE], options: OPTIONS, host }).getTypeChecker();
}
