/** A schema of a tracker of issues, with everything that a check must know: unions, interfaces, lists, inputs, connections, files. */
export const TRACKER_SDL = `
scalar DateTime
scalar JSON
scalar Upload
enum IssueState { OPEN CLOSED IN_REVIEW }
interface Node { id: ID! }
union Actor = User | Bot
type User implements Node { id: ID! login: String! name: String issues(first: Int, after: String): IssueConnection! }
type Bot implements Node { id: ID! login: String! version: Int! }
type Label { name: String! color: String }
type Issue implements Node {
  id: ID! number: Int! title: String! body: String state: IssueState! author: Actor createdAt: DateTime!
  labels: [Label!]! meta: JSON parent: Issue score: Float isOpen: Boolean
  comments(first: Int, after: String, last: Int, before: String): CommentConnection!
}
type Comment implements Node { id: ID! body: String! author: Actor }
type PageInfo { hasNextPage: Boolean! endCursor: String hasPreviousPage: Boolean! startCursor: String }
type IssueConnection { nodes: [Issue] edges: [IssueEdge] pageInfo: PageInfo! totalCount: Int! }
type IssueEdge { node: Issue cursor: String! }
type CommentConnection { nodes: [Comment!]! pageInfo: PageInfo! }
input IssueFilter { state: IssueState labels: [String!] since: DateTime inner: IssueFilter limit: Int = 5 owner: ID! }
input IssueKey @oneOf { id: ID number: Int }
type Query {
  issue(number: Int!): Issue
  issues(first: Int, after: String, states: [IssueState!], filter: IssueFilter): IssueConnection!
  node(id: ID!): Node
  me: User
  find(by: IssueKey!): Issue
  search(meta: JSON): [Actor!]!
}
input CreateIssue { title: String! body: String files: [Upload!] }
type Mutation { createIssue(input: CreateIssue!): Issue deleteIssue(id: ID!): Boolean attach(file: Upload!): Boolean }
type Subscription { issueAdded: Issue }
`;
