import type { LanguageModelV3FinishReason, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider";

/** Creates the parts of a stream with one text, one list of thoughts and one id each. */
export const createDelta = (type: "text-delta" | "reasoning-delta", delta: string): LanguageModelV3StreamPart => ({
  type,
  id: type,
  delta,
});

export function createFinish(
  finishReason: LanguageModelV3FinishReason,
  tokens: { readonly input?: number | undefined; readonly output?: number | undefined },
): LanguageModelV3StreamPart {
  const usage: LanguageModelV3Usage = {
    inputTokens: { total: tokens.input, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: tokens.output, text: undefined, reasoning: undefined },
  };
  return { type: "finish", finishReason, usage };
}

/** Streams what a generator yields; cancelling the stream ends the generator. */
export function toPartStream(
  parts: AsyncGenerator<LanguageModelV3StreamPart>,
): ReadableStream<LanguageModelV3StreamPart> {
  return new ReadableStream<LanguageModelV3StreamPart>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}
