/**
 * Codes of errors that are made on this side, in place of an answer that did not come. They are outside of what the
 * protocol uses; a server that sends them itself gains nothing.
 */
export const OVERLONG_ANSWER = -32_099;
export const STREAM_ENDED = -32_098;
