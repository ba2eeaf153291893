/**
 * Codes of errors that the client creates when an answer is missing. They are outside of the range of the protocol; a
 * server that sends them itself gains nothing.
 */
export const OVERLONG_ANSWER = -32_099;
export const STREAM_ENDED = -32_098;
