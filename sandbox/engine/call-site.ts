import { FRAME } from "./quickjs.ts";

/** Maximum of frames reported; as many more frames may belong to the guest's own code. */
const MAX_FRAMES = 20;
/** Maximum of steps read from a function's table of positions; no honest table has as many. */
const MAX_STEPS = 1 << 20;

/**
 * Finds the position of a call in the program, for the stack of its error. Creating an error for its stack takes the guest a
 * quarter of the time of a whole call; so this reads the engine's frames directly. A taken-over guest may have forged
 * them: then the position is wrong or empty.
 */
export class CallSites {
  readonly #runtime: number;
  /** Lines of a stack by position in the bytecode, which does not move during a run. */
  readonly #lines = new Map<number, string>();

  constructor(runtime: number) {
    this.#runtime = runtime;
  }

  /** Clears the cache: other bytecode may lie at the same addresses now. */
  forget(): void {
    if (this.#lines.size > 0) this.#lines.clear();
  }

  /** Returns the current stack in the format of an error's, without names. */
  stack(memory: DataView): string {
    try {
      return this.#stack(memory);
    } catch {
      return ""; // a pointer outside of the memory: not written by the engine
    }
  }

  #stack(memory: DataView): string {
    let stack = "";
    let frame = memory.getUint32(this.#runtime + FRAME.current, true);
    for (let rest = MAX_FRAMES * 2; frame !== 0 && rest > 0; rest--) {
      const pc = memory.getUint32(frame + FRAME.pc, true);
      stack += this.#lines.get(pc) ?? this.#findLine(memory, memory.getUint32(frame + FRAME.function, true), pc);
      frame = memory.getUint32(frame, true);
    }
    return stack;
  }

  /** Formats one frame; empty for functions without positions: builtins, and the guest's own code. */
  #findLine(memory: DataView, func: number, pc: number): string {
    if (!FRAME.classes.includes(memory.getUint16(func + FRAME.classId, true))) return "";
    const code = memory.getUint32(func + FRAME.code, true);
    if ((memory.getUint8(code + FRAME.flags) & FRAME.hasPositions) === 0) return "";
    const [channel, column] = findPosition(memory, code, pc - memory.getUint32(code + FRAME.bytes, true) - 1);
    const text = `    at <anonymous> (program.js:${channel + 1}:${column + 1})\n`;
    this.#lines.set(pc, text);
    return text;
  }
}

/** Reads the table of positions (`find_line_num`): steps in the bytecode, each with steps in lines and columns. */
function findPosition(memory: DataView, code: number, pc: number): readonly [line: number, column: number] {
  let read = memory.getUint32(code + FRAME.positions, true);
  const end = read + memory.getUint32(code + FRAME.positionsLength, true);
  const unsigned = (): number => {
    let number = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = memory.getUint8(read++);
      number |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    return number >>> 0;
  };
  const signed = (): number => {
    const number = unsigned();
    return (number >>> 1) ^ -(number & 1);
  };
  let [channel, column, at] = [unsigned(), unsigned(), 0];
  for (let rest = MAX_STEPS; read < end && rest > 0; rest--) {
    const step = memory.getUint8(read++);
    // A short step has one byte for both: the distance in the bytecode, and that in lines (-1 to 3).
    at += step === 0 ? unsigned() : Math.floor((step - 1) / 5);
    const nextLine = channel + (step === 0 ? signed() : ((step - 1) % 5) - 1);
    const nextColumn = column + signed();
    if (pc < at) break;
    [channel, column] = [nextLine, nextColumn];
  }
  return [channel, column];
}
