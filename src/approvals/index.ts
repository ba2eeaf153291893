export { type Approval, type Approvals, createApprovals, type GivenAnswer, type ListedApproval } from "./answers.ts";
export { type ApprovedFile, findApprovedRow, getApprovedFile } from "./approved-rows.ts";
export { type ApprovalDecisions, createApprovalDecisions } from "./decide.ts";
export { formatPlan } from "./plan-texts.ts";
