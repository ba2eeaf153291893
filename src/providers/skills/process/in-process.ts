import type { CallContext } from "../../../model/skill.ts";
import { cloneData } from "../../../shared/values/clone-data.ts";
import { type CallRequest, createInvokeRequest, performQuestion } from "./calls.ts";
import { toFailure } from "./child/failure.ts";
import { type ImportedModule, loadModule } from "./child/load-module.ts";
import { runCall } from "./child/run-call.ts";
import type { SkillHost } from "./index.ts";
import type { Loaded, LoadRequest, Response } from "./messages.ts";
import { ModuleFailure, toCallError } from "./skill-errors.ts";

/** Runs skills in this process, for a debugger of a test. Nothing stops a skill that hangs or ends the process. */
export class InProcessSkills implements SkillHost {
  readonly #root: string;
  readonly #modules = new Map<string, ImportedModule>();

  /** `root` is the skills folder; its path is removed from errors. */
  constructor(root: string) {
    this.#root = root;
  }

  start(): void {}

  async load(request: LoadRequest): Promise<Loaded> {
    try {
      const { module, response } = await loadModule(request);
      this.#modules.set(request.module, module);
      return response;
    } catch (error) {
      throw new ModuleFailure(toFailure(error));
    }
  }

  unload(module: string): void {
    this.#modules.delete(module);
  }

  async invoke(request: CallRequest, context: CallContext): Promise<unknown> {
    const module = this.#modules.get(request.module);
    const send = (response: Response): void => {
      if (response.kind === "log") context.log(response.level, response.text);
      if (response.kind === "progress") context.progress(response.done, response.total, response.text);
    };
    const channel = {
      send,
      ask: async (_: number, question: Parameters<typeof performQuestion>[0]) => performQuestion(question, context),
    };
    const invocation = createInvokeRequest(0, request, context, Infinity);
    try {
      const run = async (): Promise<unknown> => cloneData(await runCall(invocation, module, context.signal, channel));
      return await (context.pauseTimeoutFor?.(run()) ?? run());
    } catch (thrown) {
      throw toCallError(request.path, { failure: toFailure(thrown), isStray: false }, this.#root);
    }
  }

  async close(): Promise<void> {}
}
