/** The build puts the package into this module: bundlers of other programs cannot read the package's main file. */
export { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
