export { describeFunction, type EndedRun, proposeAutomation, resumeRun, runCode, searchSkills } from "./calls.ts";
export { BUILTIN_TOOLS, CALL_TOOLS, isBuiltinTool, listBuiltinTools, MAX_QUESTIONS } from "./definitions.ts";
export { formatRunCode, getCatalogUnits, hasMethods } from "./description.ts";
export { parseBuiltinInput, validateBuiltin } from "./input.ts";
export {
  createRuntimeTools,
  type RuntimeTool,
  type RuntimeToolOptions,
  type RuntimeToolResult,
} from "./runtime-tools.ts";
export { getTokensOfEach, joinTexts } from "./several-questions.ts";
