export {
  type Constant,
  findConstants,
  findLiterals,
  findName,
  formatPlace,
  type FoundLiteral,
  type LiteralValue,
  type ProgramTree,
} from "./constants.ts";
export { formatSavedFile, type SavedFile } from "./saved-file.ts";
export { parseSource } from "./saved-program.ts";
export {
  type SavedOptions,
  type SavedOutcome,
  type SavedProvider,
  type ProgramExecution,
  type SavedSkill,
  loadSavedSkills,
} from "./saved-provider.ts";
