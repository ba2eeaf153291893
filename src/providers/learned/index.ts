export {
  findConstants,
  findLiterals,
  findName,
  formatPlace,
  type FoundLiteral,
  type LiteralValue,
  type ProgramTree,
} from "./constants.ts";
export { formatLearnedFile, type LearnedFile } from "./learned-file.ts";
export { parseSource, readParameterValues } from "./learned-program.ts";
export {
  type LearnedOptions,
  type LearnedOutcome,
  type LearnedProvider,
  type LearnedRun,
  type LearnedSkill,
  loadLearnedSkills,
} from "./learned-provider.ts";
