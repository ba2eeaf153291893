import { StringDecoder } from "node:string_decoder";

/**
 * Reads a stream line by line, without the line breaks; the last line may have none. A line with more than `maxUnits` UTF-16
 * units is skipped, and yields `undefined`.
 */
export async function* streamLines(input: AsyncIterable<Buffer>, maxUnits: number): AsyncGenerator<string | undefined> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  let isTooLong = false;
  for await (const chunk of input) {
    const [first = "", ...others] = decoder.write(chunk).split("\n");
    rest += isTooLong ? "" : first;
    isTooLong ||= rest.length > maxUnits;
    for (const next of others) {
      yield finishLine(rest, isTooLong);
      rest = next;
      isTooLong = rest.length > maxUnits;
    }
    if (isTooLong) rest = "";
  }
  rest += decoder.end();
  if (rest !== "" || isTooLong) yield finishLine(rest, isTooLong);
}

function finishLine(line: string, isTooLong: boolean): string | undefined {
  return isTooLong ? undefined : line.replace(/\r$/, "");
}
