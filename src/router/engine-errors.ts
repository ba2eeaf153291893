/** V8's messages for programming errors in the method. They mean nothing to a caller without the code. */
const MISTAKES: readonly RegExp[] = [
  /^Cannot (?:read|set|delete) propert(?:y|ies) /,
  /^Cannot (?:destructure|assign to read only|redefine|define|add|create|convert|mix|access|use 'in'|perform) /,
  /^(?:\(intermediate value\)\S*|(?:number|object|string|boolean|symbol|function) \S+|\S+) is not (?:a function|iterable|defined|a constructor|extensible)\b/,
  /^(?:Assignment to constant variable|Converting circular structure to JSON|Do not know how to serialize a BigInt)/,
  /^Invalid (?:array|string|array buffer|typed array|DataView) length|^Invalid time value|^Array buffer allocation failed/,
  /^Reduce of empty array|^Class constructor .* cannot be invoked|^Private field|^Method .* called on incompatible receiver/,
  /^(?:Unexpected (?:token|end of|non-whitespace|string|number)|Expected .* in JSON|Bad control character|Unterminated string)/,
  /is not valid JSON$|could not be cloned\.?$|^Right-hand side of |^The "[^"]*" (?:argument|property) must be /,
  /^(?:toString|toFixed|toPrecision|toExponential)\(\) |^Function\.prototype\.|^Object prototype may only be/,
];

const OVERFLOW = /^(?:Maximum call stack size exceeded|too much recursion|stack overflow)/;

/** Explains an engine error to a caller, as the end of a sentence; `undefined` for any other message. */
export function explainEngineError(message: string): string | undefined {
  if (OVERFLOW.test(message)) return "failed in its own code: its recursion is too deep";
  return MISTAKES.some((pattern) => pattern.test(message))
    ? `failed in its own code: ${message.split("\n", 1)[0]}`
    : undefined;
}
