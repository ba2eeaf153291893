import { LAYOUT } from "./quickjs.ts";

export const WASM_PAGE = 65_536;

/** Creates a memory that can grow to at most `bytes`. */
export function openMemory(bytes: number): WebAssembly.Memory {
  const pages = Math.max(LAYOUT.initialPages, Math.ceil(bytes / WASM_PAGE));
  return new WebAssembly.Memory({ initial: LAYOUT.initialPages, maximum: pages });
}

/** Grows a memory to that many bytes; false beyond its maximum. */
export function growMemory(memory: WebAssembly.Memory, bytes: number): boolean {
  const pages = Math.ceil((bytes - memory.buffer.byteLength) / WASM_PAGE);
  try {
    if (pages > 0) memory.grow(pages);
    return true;
  } catch {
    return false; // beyond the maximum: the engine reports it as out of memory
  }
}
