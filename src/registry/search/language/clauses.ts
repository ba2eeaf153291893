/** Maximum clauses of a request; the text after the last boundary stays in the last one. */
const MAX_CLAUSES = 16;

/** Words that begin a clause after `and` or a comma: the verbs of requests, question words, and polite beginnings. */
const BEGINNINGS = `
  find search look locate get fetch retrieve obtain read load list show display view browse
  create make add insert generate produce build compose write draft save store keep record
  remove delete erase clear cancel undo archive restore
  update edit modify change replace rename move copy merge sort filter convert translate summarize
  send deliver forward post publish submit share mail email text call message notify remind print
  upload import download export open launch start run execute play stop end close pause resume restart
  enable activate disable deactivate turn switch set connect join install configure deploy
  schedule plan arrange organize book reserve register sign log subscribe unsubscribe invite assign
  buy purchase order sell pay charge check verify validate test review track monitor
  calculate compute determine estimate analyze compare count identify assess evaluate recommend suggest
  explain describe draw plot take use apply tell give provide help let query
  what how who where when which please can could would i
`
  .trim()
  .split(/\s+/)
  .join("|");

const BOUNDARY = new RegExp(
  [
    String.raw`[.!?;\n](?=\s|$)|[。！？；]`,
    String.raw`\b(?:then|also|plus|next|finally|additionally|as well as|after that)\b`,
    String.raw`(?:\band\b|,)(?=\s+(?:${BEGINNINGS})\b)`,
  ].join("|"),
  "i",
);

/**
 * Splits a request into clauses that ask for one thing each: at the ends of sentences, at words such as `then`, and where
 * a verb follows `and` or a comma.
 */
export function splitClauses(text: string): readonly string[] {
  const clauses = text.split(BOUNDARY);
  const last = clauses.slice(MAX_CLAUSES - 1).join(" ");
  return [...clauses.slice(0, MAX_CLAUSES - 1), last].map((clause) => clause.trim()).filter((clause) => clause !== "");
}
