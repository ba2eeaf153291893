/** How queries of a GraphQL API are sent: in a body, in the address, or by their digests where the server has stored their texts. */
export const QUERY_REQUESTS = ["post", "get", "persisted"] as const;

export type QueryRequests = (typeof QUERY_REQUESTS)[number];
