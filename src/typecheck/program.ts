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

/** A function around the program makes `await` and `return` right, and every name of it its own. */
const BEFORE = "async function __program() {";
const AFTER = "\n}";

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

/** Reads programs; what does not change between them is parsed once. `undefined` for what cannot be understood. */
export function createProgramReader(): (order: CheckRequest) => TypedProgram | undefined {
  const library = parse(LIBRARY_FILE, libraryText());
  const devices = new Map<string, Device>();
  let size = 0;

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

  return ({ code, typescript, declarations }) => {
    const device = getDevice(declarations);
    const file = parse(typescript ? "/program.ts" : "/program.js", BEFORE + code + AFTER);
    if (isDeeper(file, MAX_DEPTH)) return undefined;
    const program = createProgram([library, device.file, file]);
    if (program.getSyntacticDiagnostics(file).length > 0) return undefined;
    return createTypedProgram(
      { library, device: device.file, methods: device.methods, program: file },
      program.getTypeChecker(),
    );
  };
}

interface Device {
  readonly file: ts.SourceFile;
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
`;
  return { file: parse(DEVICE_FILE, source), methods };
}

function isDeeper(node: ts.Node, levels: number): boolean {
  return levels === 0 || ts.forEachChild(node, (child) => isDeeper(child, levels - 1) || undefined) === true;
}

function parse(name: string, text: string): ts.SourceFile {
  const options = { languageVersion: ts.ScriptTarget.ESNext, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(name, text, options, true);
}

function createProgram(files: readonly ts.SourceFile[]): ts.Program {
  const byName = new Map(files.map((file) => [file.fileName, file]));
  const host: ts.CompilerHost = {
    getSourceFile: (name) => byName.get(name),
    fileExists: (name) => byName.has(name),
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
  return ts.createProgram({ rootNames: [...byName.keys()], options: OPTIONS, host });
}
