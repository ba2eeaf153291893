/** GraphQL Yoga without its types, which are those of browsers, too. */
export { createSchema, createYoga } from "graphql-yoga";
