/** The build puts the package into this module: bundles of other programs in the form of ES modules cannot load its main file. */
export {
  Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parse,
  parseDocument,
  stringify,
  visit,
  type YAMLMap,
} from "yaml";
