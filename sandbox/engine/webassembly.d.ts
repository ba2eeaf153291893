/** The part of the WebAssembly interface that we use; Node has it, but its types leave it to the browser's library. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    constructor(descriptor: { readonly initial: number; readonly maximum: number });
    grow(pages: number): number;
  }
  class Instance {
    readonly exports: Readonly<Record<string, unknown>>;
    constructor(module: Module, imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>);
  }
  class RuntimeError extends Error {}
}
